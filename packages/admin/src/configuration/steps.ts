/** The steps that make a database as a configuration file says. */
import { type PathStep, pathText } from '@rollcall/protocol'
import type { Acting } from '../act.ts'
import { isSame } from '../approvals/diff-lines.ts'
import type { HasVault } from '../deps.ts'
import { AdminRefusal, asRefusal } from '../use-case.ts'

export const CHANGES = ['add', 'change', 'remove'] as const

export type StepDeps = HasVault & Acting

/** One change, not made yet. */
export interface Step {
  /** The place in the file. */
  readonly at: readonly PathStep[]
  readonly change: (typeof CHANGES)[number]
  /** The values before and after, as the file would write them; null: nothing. */
  readonly from: unknown
  readonly to: unknown
  /** The name of the act that does the same by hand. The note of the step's entry is `apply: ` and this name. */
  readonly act: string
  /** Namespace of the registry; absent when the step concerns no single one. */
  readonly registry?: string
  readonly make: (deps: StepDeps) => Promise<unknown>
}

/** A refusal at a place in the file. */
export const refusalAt = (at: readonly PathStep[], rule: string): AdminRefusal =>
  new AdminRefusal(`${pathText(at)}: ${rule}`, { at })

/** Does work, and makes its refusals refusals at this place in the file. @param more is added to their messages */
export async function refusingAt<Result>(
  at: readonly PathStep[],
  work: () => Promise<Result>,
  more = '',
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const refusal = asRefusal(error)
    if (!(refusal instanceof AdminRefusal)) throw error
    throw new AdminRefusal(`${pathText(at)}: ${refusal.message}${more}`, { at, cause: error })
  }
}

/** The members of `wanted` that differ from the stored ones. @returns null: none differs */
export function changedMembers<Entry extends object>(wanted: Entry, current: Readonly<Record<string, unknown>>) {
  const members = Object.entries(wanted).filter(([name, value]) => !isSame(value, current[name]))
  return members.length === 0 ? null : members.map(([name]) => name)
}
