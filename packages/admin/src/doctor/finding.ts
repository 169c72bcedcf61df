/** Checks of doctor: the facts that they judge, and their findings. */

import { stat } from 'node:fs/promises'
import type { Limits } from '@rollcall/core/limits'
import type { examineDatabase } from '../database.ts'

/** `weak`: the setting works but could be safer. `broken`: it does not work, or it discloses secrets or data. */
export type FindingState = 'ok' | 'weak' | 'broken'

/** The result of one check: a row of doctor's report. */
export interface Finding {
  readonly check: string
  readonly state: FindingState
  /** The finding in words and, unless the state is `ok`, what to do. */
  readonly advice: string
  /** The command that mends the fault, with <words> for names; null: there is no fault, or no single command for it. */
  readonly command: string | null
}

export type Judgement = Pick<Finding, 'state' | 'advice'>

/** A check of facts. `judge` returns null where the check does not apply. */
export interface Check<Facts> {
  readonly check: string
  /** The command that mends a fault, if a single one does. */
  readonly command?: string
  judge(facts: Facts): Judgement | null
}

export interface FileModeFacts {
  /** The permission bits of the data directory; those of files follow. Null: the directory or file is missing or not readable. */
  readonly data_directory: number | null
  readonly password: number | null
  readonly demo_file: number | null
  readonly master_key: number | null
}

/** The members of the configuration that doctor judges. */
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
  readonly files: FileModeFacts
}

export type DatabaseFacts = Awaited<ReturnType<typeof examineDatabase>> & {
  /** True when the database is the embedded PostgreSQL. */
  readonly embedded: boolean
  /** True when some acts wait for a second operator. */
  readonly twoPerson: boolean
  /** ROLLCALL_JOURNAL of the process that runs the checks. */
  readonly journal: string | undefined
}

/** The facts of a database, together with the settings that the checks of the database need. */
export const databaseFacts = (
  { databaseUrl, twoPerson, journal }: Pick<JudgedConfig, 'databaseUrl' | 'twoPerson' | 'journal'>,
  examined: Awaited<ReturnType<typeof examineDatabase>>,
): DatabaseFacts => ({ ...examined, embedded: databaseUrl === undefined, twoPerson, journal })

export const okResult = (advice: string): Judgement => ({ state: 'ok', advice })
export const weakResult = (advice: string): Judgement => ({ state: 'weak', advice })
export const brokenResult = (advice: string): Judgement => ({ state: 'broken', advice })

/** Judges the facts by each check, in order. A check that does not apply gives no finding. */
export function judgeFacts<Facts>(checks: readonly Check<Facts>[], facts: Facts): Finding[] {
  return checks.flatMap(({ check, command = null, judge }) => {
    const judgement = judge(facts)
    if (judgement === null) return []
    return [{ check, ...judgement, command: judgement.state === 'ok' ? null : command }]
  })
}

/** The paths of the data directory and of the files whose permission bits doctor judges. */
export type JudgedFilePaths = Readonly<Record<keyof FileModeFacts, string>>

/** Reads the permission bits of the files, and adds the configuration. */
export async function readSettingFacts(config: JudgedConfig, paths: JudgedFilePaths): Promise<SettingFacts> {
  const [data_directory, password, demo_file, master_key] = await Promise.all([
    findFileMode(paths.data_directory),
    findFileMode(paths.password),
    findFileMode(paths.demo_file),
    findFileMode(paths.master_key),
  ])
  return { config, files: { data_directory, password, demo_file, master_key } }
}

async function findFileMode(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null)
  return found === null ? null : found.mode & 0o7777
}
