/** The lines that a second operator reads before the decision: what an act is about, and what it would change. */
import { canonicalJson } from '@rollcall/protocol'

/**
 * A stored value that an act would change, or a value that only says what the act is about: `from` and `to` are then
 * equal. `at` is the name of the value. A line has no secret and names no person.
 */
export interface DiffLine {
  readonly at: string
  /** The stored value; null when there is none. */
  readonly from: unknown
  /** The value after the act; null when there is none. */
  readonly to: unknown
}

/** The changes that an act would make. */
export interface ProposedChanges {
  /** Members that say what the act is about. The act does not change them. */
  readonly about?: object
  /** The stored members; absent when nothing is stored. */
  readonly stored?: object
  /** The members after the act. Only those that differ from the stored ones are shown; null removes a member. */
  readonly wanted: object
  /** Further diff lines, shown after the others. */
  readonly lines?: readonly DiffLine[]
}

/** Makes the diff lines of an act from its changes. @param hidden names of members that get no line */
export function diffLinesOf({ about = {}, stored = {}, wanted, lines = [] }: ProposedChanges, hidden: readonly string[]) {
  const before = stored as Readonly<Record<string, unknown>>
  const shown = [
    ...definedMembers(about).map(([at, to]) => ({ at, from: to, to })),
    ...definedMembers(wanted)
      .map(([at, to]) => ({ at, from: before[at] ?? null, to }))
      .filter(({ from, to }) => !isSameJson(from, to)),
    ...lines,
  ]
  return shown.filter(({ at }) => !hidden.includes(at))
}

const definedMembers = (members: object): readonly [string, unknown][] =>
  Object.entries(members).filter(([, value]) => value !== undefined)

/** True when two values are equal, written as canonical JSON. */
export const isSameJson = (one: unknown, other: unknown): boolean => canonicalJsonText(one) === canonicalJsonText(other)

/** Returns a value as canonical JSON text. Members that are undefined are left out; undefined itself is written as null. */
export const canonicalJsonText = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value ?? null)))
