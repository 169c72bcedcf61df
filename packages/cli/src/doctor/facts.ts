/** What the checks of settings judge: the configuration, and the modes of files. */
import { stat } from 'node:fs/promises'
import { type Config, masterKeyFile } from '@rollcall/server'
import { demoFilePath } from '../demo/demo-file.ts'
import { embeddedFiles } from '../environment.ts'
import type { SettingFacts } from './finding.ts'

export async function settingFacts(config: Config): Promise<SettingFacts> {
  const [data_directory = null, password = null, demo_file = null, master_key = null] = await Promise.all(
    [
      config.dataDirectory,
      embeddedFiles(config).passwordFile,
      demoFilePath(config),
      masterKeyFile(config),
    ].map(modeOf),
  )
  return { config, files: { data_directory, password, demo_file, master_key } }
}

async function modeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null)
  return found === null ? null : found.mode & 0o7777
}
