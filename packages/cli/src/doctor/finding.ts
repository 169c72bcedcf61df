/** Checks: the facts that they judge, and their findings. */

import { stat } from 'node:fs/promises'
import { type Config, masterKeyFile } from '@rollcall/server'
import type { examineDatabase } from '@rollcall/server/admin/database'
import { demoFilePath } from '../demo/demo-file.ts'
import { embeddedFiles } from '../environment.ts'

/** `weak`: it works but could be safer. `broken`: it does not work, or it discloses secrets or data. */
export type State = 'ok' | 'weak' | 'broken'

/** One row of the report. */
export interface Finding {
  readonly check: string
  readonly state: State
  /** The finding and, unless it is well, what to do about it. */
  readonly advice: string
}

export type Judgement = Pick<Finding, 'state' | 'advice'>

/** A check of some facts; null where it does not apply. */
export interface Check<Facts> {
  readonly check: string
  judge(facts: Facts): Judgement | null
}

export interface FileFacts {
  /** The permission bits of a file that may be missing: null. */
  readonly data_directory: number | null
  readonly password: number | null
  readonly demo_file: number | null
  readonly master_key: number | null
}

export interface SettingFacts {
  readonly config: Config
  readonly files: FileFacts
}

export type DatabaseFacts = Awaited<ReturnType<typeof examineDatabase>> & {
  /** Whether it is the embedded PostgreSQL. */
  readonly embedded: boolean
}

export const ok = (advice: string): Judgement => ({ state: 'ok', advice })
export const weak = (advice: string): Judgement => ({ state: 'weak', advice })
export const broken = (advice: string): Judgement => ({ state: 'broken', advice })

/** Applies each check, in order. */
export function findings<Facts>(checks: readonly Check<Facts>[], facts: Facts): Finding[] {
  return checks.flatMap(({ check, judge }) => {
    const judgement = judge(facts)
    return judgement === null ? [] : [{ check, ...judgement }]
  })
}

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
