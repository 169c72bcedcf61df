/** A source of time. Tests pass a clock of their own, so they never wait. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly date: () => number
  /** Calls `work` once after this many milliseconds. It does not keep the process alive. */
  readonly later: (work: () => void, milliseconds: number) => void
}

/** The time as a message has it: RFC 3339 in UTC, to the millisecond. */
export const timestampOf = ({ date }: Pick<Clock, 'date'>): string => new Date(date()).toISOString()

export const CLOCK: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  later: (work, milliseconds) => void setTimeout(work, milliseconds).unref(),
}
