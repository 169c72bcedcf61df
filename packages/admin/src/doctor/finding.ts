/** Checks: the facts that they judge, and their findings. */

import { stat } from 'node:fs/promises'
import type { Limits } from '@rollcall/core/limits'
import type { examineDatabase } from '../database.ts'

/** `weak`: it works but could be safer. `broken`: it does not work, or it discloses secrets or data. */
export type State = 'ok' | 'weak' | 'broken'

/** One row of the report. */
export interface Finding {
  readonly check: string
  readonly state: State
  /** The finding in words and, unless all is well, what to do. */
  readonly advice: string
  /**
   * The command that mends it, with <words> where it needs a name; null: all is well, or no single command mends it.
   */
  readonly command: string | null
}

export type Judgement = Pick<Finding, 'state' | 'advice'>

/** A check of some facts; null where it does not apply. */
export interface Check<Facts> {
  readonly check: string
  /** The command that mends it, where a single one does. */
  readonly command?: string
  judge(facts: Facts): Judgement | null
}

export interface FileFacts {
  /** The permission bits of a file that may be missing: null. */
  readonly data_directory: number | null
  readonly password: number | null
  readonly demo_file: number | null
  readonly master_key: number | null
}

/** The part of the configuration that is judged. */
export interface JudgedConfig {
  readonly host: string
  readonly adminHost: string
  readonly adminPrivateNetwork: boolean
  readonly behindTlsProxy: boolean
  readonly publicUrl: string | undefined
  readonly databaseUrl: string | undefined
  readonly masterKey: object | undefined
  readonly witness: object | null
  readonly journal: string | undefined
  readonly tokenQueryParameters: boolean
  readonly twoPerson: boolean
  readonly limits: Limits
}

export interface SettingFacts {
  readonly config: JudgedConfig
  readonly files: FileFacts
}

export type DatabaseFacts = Awaited<ReturnType<typeof examineDatabase>> & {
  /** Whether the database is the embedded PostgreSQL. */
  readonly embedded: boolean
  /** Whether some acts wait for a second operator. */
  readonly twoPerson: boolean
  /** ROLLCALL_JOURNAL of the process that asks. */
  readonly journal: string | undefined
}

/** The facts of a database, with the settings that decide about them. */
export const databaseFacts = (
  { databaseUrl, twoPerson, journal }: Pick<JudgedConfig, 'databaseUrl' | 'twoPerson' | 'journal'>,
  examined: Awaited<ReturnType<typeof examineDatabase>>,
): DatabaseFacts => ({ ...examined, embedded: databaseUrl === undefined, twoPerson, journal })

export const judgedOk = (advice: string): Judgement => ({ state: 'ok', advice })
export const judgedWeak = (advice: string): Judgement => ({ state: 'weak', advice })
export const judgedBroken = (advice: string): Judgement => ({ state: 'broken', advice })

/** Applies each check, in order. */
export function findings<Facts>(checks: readonly Check<Facts>[], facts: Facts): Finding[] {
  return checks.flatMap(({ check, command = null, judge }) => {
    const judgement = judge(facts)
    if (judgement === null) return []
    return [{ check, ...judgement, command: judgement.state === 'ok' ? null : command }]
  })
}

/** The paths of the files that are judged. */
export type JudgedFiles = Readonly<Record<keyof FileFacts, string>>

/** The configuration, with the modes of the files. */
export async function settingFacts(config: JudgedConfig, paths: JudgedFiles): Promise<SettingFacts> {
  const [data_directory, password, demo_file, master_key] = await Promise.all([
    modeOf(paths.data_directory),
    modeOf(paths.password),
    modeOf(paths.demo_file),
    modeOf(paths.master_key),
  ])
  return { config, files: { data_directory, password, demo_file, master_key } }
}

async function modeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null)
  return found === null ? null : found.mode & 0o7777
}
