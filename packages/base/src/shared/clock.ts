/** Time, as a part of the server is given it: a test gives a clock of its own, and waits for none. */
export interface Clock {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly date: () => number
  /** Calls once, after so many milliseconds. The process may end before that. */
  readonly later: (work: () => void, milliseconds: number) => void
}

export const CLOCK: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  later: (work, milliseconds) => void setTimeout(work, milliseconds).unref(),
}
