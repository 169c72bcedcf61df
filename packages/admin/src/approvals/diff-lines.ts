/** The lines that a second operator reads before the decision: what an act is about, and what it would change. */
import { canonicalJson } from '@rollcall/protocol'

/**
 * A member that an act would change, or that only says what the act is about: there `from` and `to` are equal. A line names
 * no secret and no person.
 */
export interface DiffLine {
  readonly at: string
  /** The stored value; null when there is none. */
  readonly from: unknown
  /** The value after the act; null when there is none. */
  readonly to: unknown
}

/** The changes that an act would make. */
export interface Comparison {
  /** Members that say what the act is about. The act does not change them. */
  readonly about?: object
  /** The stored members; absent when nothing is stored. */
  readonly stored?: object
  /** The wanted members: those that differ are shown. A member that is null goes away. */
  readonly wanted: object
  /** Further lines, behind the others. */
  readonly lines?: readonly DiffLine[]
}

/** The one way to show a difference. @param hidden members that are not shown */
export function diffOf({ about = {}, stored = {}, wanted, lines = [] }: Comparison, hidden: readonly string[]) {
  const before = stored as Readonly<Record<string, unknown>>
  const shown = [
    ...given(about).map(([at, to]) => ({ at, from: to, to })),
    ...given(wanted)
      .map(([at, to]) => ({ at, from: before[at] ?? null, to }))
      .filter(({ from, to }) => !isSame(from, to)),
    ...lines,
  ]
  return shown.filter(({ at }) => !hidden.includes(at))
}

const given = (members: object): readonly [string, unknown][] =>
  Object.entries(members).filter(([, value]) => value !== undefined)

/** Whether two values say the same. */
export const isSame = (one: unknown, other: unknown): boolean => textOf(one) === textOf(other)

/** Returns a value as canonical JSON, which has no undefined. */
export const textOf = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value ?? null)))
