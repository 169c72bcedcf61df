/** Gathering what the checks judge. */
import { stat } from 'node:fs/promises'
import {
  type Config,
  type Database,
  directoryContent,
  listParticipants,
  listWithoutSecret,
  masterKeyFile,
  pendingMigrations,
  readServerSettings,
} from '@rollcall/server'
import { demoFilePath } from '../demo/demo-file.ts'
import { embeddedFiles } from '../environment.ts'
import type { DatabaseFacts, SettingFacts } from './finding.ts'

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

/** Changes nothing, so the directory is read only where its tables are. */
export async function databaseFacts(db: Database, embedded: boolean): Promise<DatabaseFacts> {
  const settings = await readServerSettings(db)
  const pending = await pendingMigrations(db)
  const content = await directoryContent(db)
  const empty = content.demo.length + content.real.length === 0
  const [participants, withoutSecret] = empty
    ? [[], []]
    : await Promise.all([listParticipants(db), listWithoutSecret(db)])
  const disabled = participants.filter(({ status }) => status === 'disabled')
  return { embedded, settings, content, pending, disabled, withoutSecret }
}
