/** A circuit breaker: while something is away, it is asked for by one caller now and then, and the others are refused at once. */

import { RecordsUnavailable } from '@rollcall/core/model/record-source'

/** Milliseconds for which nobody asks after a failure; twice as long after each further one. */
const PAUSE = 1_000
const LONGEST_PAUSE = 15_000

export class Breaker {
  #pause = 0
  #until = 0
  #probing = false
  readonly #now: () => number

  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  /** Whether it failed lately, and nobody has found it working since. */
  get isOpen(): boolean {
    return this.#pause > 0
  }

  /** Notes a failure that was found in another way. */
  failed(isProbe = false): void {
    this.#pause = Math.min(LONGEST_PAUSE, Math.max(PAUSE, isProbe ? 2 * this.#pause : this.#pause))
    this.#until = this.#now() + this.#pause
  }

  /**
   * @param isAway whether an error means that it is away
   * @throws RecordsUnavailable without asking, during a pause; else what the work throws
   */
  async run<Result>(work: () => Promise<Result>, isAway: (error: unknown) => boolean): Promise<Result> {
    if (this.isOpen && (this.#probing || this.#now() < this.#until)) throw new RecordsUnavailable(null)
    const isProbe = this.isOpen
    this.#probing ||= isProbe
    try {
      const result = await work()
      this.#pause = 0
      return result
    } catch (error) {
      if (isAway(error)) this.failed(isProbe)
      throw error
    } finally {
      if (isProbe) this.#probing = false
    }
  }
}
