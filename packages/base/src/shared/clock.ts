/** A source of time. Tests pass a clock of their own, so they never wait. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly date: () => number
  /** Calls `work` once after this many milliseconds. It does not keep the process alive. */
  readonly later: (work: () => void, milliseconds: number) => void
}

export const CLOCK: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  later: (work, milliseconds) => void setTimeout(work, milliseconds).unref(),
}
