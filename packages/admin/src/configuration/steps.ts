/** The steps that change a database to match a configuration file. */
import { type PathStep, pathText } from '@rollcall/protocol'
import type { BaseActDeps } from '../act.ts'
import { AdminRefusal, toAdminRefusal } from '../admin-function.ts'
import { isSameJson } from '../approvals/diff-lines.ts'
import type { HasVault } from '../deps.ts'

export const STEP_CHANGES = ['add', 'change', 'remove'] as const

export type StepDeps = HasVault & BaseActDeps

/** The path of an entry, a member or a list in the configuration file. */
export type FilePlace = readonly PathStep[]

/** A planned change of the database. */
export interface ConfigStep {
  readonly at: FilePlace
  readonly change: (typeof STEP_CHANGES)[number]
  /** The value before the step, for the list of changes; `to` is the value after it. Null: there is none. */
  readonly from: unknown
  readonly to: unknown
  /** The name of the act that does the same by hand. The note of the step's entry is `apply: ` and this name. */
  readonly act: string
  /** Namespace of the registry; absent when the step concerns none or several. */
  readonly registry?: string
  readonly make: (deps: StepDeps) => Promise<unknown>
}

/** Makes a refusal that names a place in the file. */
export const refusalAt = (at: FilePlace, rule: string): AdminRefusal => new AdminRefusal(`${pathText(at)}: ${rule}`, { at })

/** Runs the work, and adds this place in the file to its refusals. @param more text behind the message of a refusal */
export async function withRefusalsAt<Result>(at: FilePlace, work: () => Promise<Result>, more = ''): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const refusal = toAdminRefusal(error)
    if (!(refusal instanceof AdminRefusal)) throw error
    throw new AdminRefusal(`${pathText(at)}: ${refusal.message}${more}`, { at, cause: error })
  }
}

/** The names of members of `wanted` that differ from the stored ones; null: none differs. */
export function changedMembers<Entry extends object>(wanted: Entry, current: Readonly<Record<string, unknown>>) {
  const members = Object.entries(wanted).filter(([name, value]) => !isSameJson(value, current[name]))
  return members.length === 0 ? null : members.map(([name]) => name)
}
