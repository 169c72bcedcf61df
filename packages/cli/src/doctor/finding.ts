/** What a check finds, and how checks are written. */
import type { Config, DirectoryContent, IndexPlan, Participant, ServerSettings } from '@rollcall/server'

/** `weak`: it works and could be safer. `broken`: it does not work, or gives something away. */
export type State = 'ok' | 'weak' | 'broken'

/** One row of the report. */
export interface Finding {
  readonly check: string
  readonly state: State
  /** What was found and, unless it is well, what to do. */
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

type Named = Pick<Participant, 'sender_id'>

export interface DatabaseFacts {
  readonly embedded: boolean
  readonly settings: ServerSettings
  readonly content: DirectoryContent
  readonly pending: readonly string[]
  readonly disabled: readonly Named[]
  /** Registries that this version cannot read. */
  readonly unreadable: readonly { readonly id: number; readonly namespace: string; readonly error: unknown }[]
  /** Nodes that have ended without leaving, with the jobs that they still hold. */
  readonly goneNodes: readonly { readonly id: string; readonly jobs: number }[]
  readonly withoutSecret: readonly Named[]
  /** Active ones from whom unsigned messages are taken. */
  readonly unsigned: readonly Named[]
  /** Active ones whose messages must be signed and who have no key for it. */
  readonly withoutSignatureKey: readonly Named[]
  /** Of every record type of every registry. */
  readonly indexes: readonly Pick<IndexPlan, 'namespace' | 'unfilled' | 'missing'>[]
  /** Active ones to whom messages may go without TLS, with the hosts that are not this machine. */
  readonly plainHttp: readonly (Named & { readonly hosts: readonly string[] })[]
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
