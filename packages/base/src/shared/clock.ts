/** A source of time. Tests use a clock of their own, so that they never wait. */
export interface Clock {
  /** Milliseconds of a clock that never goes back, for measuring durations. */
  readonly now: () => number
  /** The current time in milliseconds since 1970. */
  readonly date: () => number
  /** Calls `work` once after `milliseconds`. The timer does not keep the process alive. */
  readonly later: (work: () => void, milliseconds: number) => void
}

/** The current time as messages have it: RFC 3339 in UTC, with milliseconds. */
export const currentTimestamp = ({ date }: Pick<Clock, 'date'>): string => new Date(date()).toISOString()

/** The clock of this machine. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  later: (work, milliseconds) => void setTimeout(work, milliseconds).unref(),
}
