/** The lines that a second operator reads before the decision: what an act is about, and what it would change. */
import { isSame } from '../configuration/steps.ts'

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

/** The given members, each beside its stored value. */
export const lines = (given: object, stored: object = {}): readonly DiffLine[] =>
  Object.entries(given)
    .filter(([, to]) => to !== undefined)
    .map(([at, to]) => ({ at, from: (stored as Readonly<Record<string, unknown>>)[at] ?? null, to }))

/** Members that say what an act is about. The act does not change them. */
export const about = (given: object): readonly DiffLine[] => lines(given).map(({ at, to }) => ({ at, from: to, to }))

/** The given members that differ from what is stored. */
export const differences = (given: object, stored: object): readonly DiffLine[] =>
  lines(given, stored).filter(({ from, to }) => !isSame(from, to))

/** The lines of an act that always waits. */
export const always = async (asked: object, change: object, was: object = {}): Promise<readonly DiffLine[]> => [
  ...about(asked),
  ...lines(change, was),
]

/** The members that only `before` has, each as null. */
export const emptied = (before: object, wanted: object) =>
  Object.fromEntries(
    Object.keys(before)
      .filter((name) => !Object.hasOwn(wanted, name))
      .map((name) => [name, null]),
  )
