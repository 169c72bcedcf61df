/**
 * The circuit breaker of a source: while its database is away, one caller at a time tries it after a pause, and all
 * others are refused at once.
 */

import { RecordsUnavailable } from '@rollcall/core/model/record-source'

/** The milliseconds of the pause after a failure. Each probe that fails doubles it, up to `LONGEST_PAUSE_MILLISECONDS`. */
const FIRST_PAUSE_MILLISECONDS = 1_000
const LONGEST_PAUSE_MILLISECONDS = 15_000

export class Breaker {
  #pause = 0
  #until = 0
  #probing = false
  readonly #now: () => number

  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  /** True from a failure until a probe has succeeded. */
  get isOpen(): boolean {
    return this.#pause > 0
  }

  /**
   * Begins a pause, because the database has failed. Callers report so a failure after `run` has returned, such as that of a
   * statement on a connection from `run`.
   * @param isProbe true when a probe has failed: the pause is then twice as long as the last one
   */
  failed(isProbe = false): void {
    this.#pause = Math.min(
      LONGEST_PAUSE_MILLISECONDS,
      Math.max(FIRST_PAUSE_MILLISECONDS, isProbe ? 2 * this.#pause : this.#pause),
    )
    this.#until = this.#now() + this.#pause
  }

  /**
   * Runs work. After a failure no work begins until the pause is over; then one caller at a time probes. Only the success of a
   * probe closes the breaker: other work that succeeds may have begun before the failure.
   * @param isAway whether an error means that the database is away
   * @throws RecordsUnavailable during a pause or while another caller probes, without running the work; otherwise the
   * error of the work
   */
  async run<Result>(work: (isProbe: boolean) => Promise<Result>, isAway: (error: unknown) => boolean): Promise<Result> {
    if (this.isOpen && (this.#probing || this.#now() < this.#until)) throw new RecordsUnavailable(null)
    const isProbe = this.isOpen
    this.#probing ||= isProbe
    try {
      const result = await work(isProbe)
      if (isProbe) this.#pause = 0
      return result
    } catch (error) {
      if (isAway(error)) this.failed(isProbe)
      throw error
    } finally {
      if (isProbe) this.#probing = false
    }
  }
}
