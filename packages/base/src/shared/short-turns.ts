/** Long work that other work of the event loop does not wait for. */
import { performance } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'

/** Milliseconds. */
const TURN = 20

/**
 * Splits work into short turns of the event loop. Each piece of work has its own instance, and calls `next` between its
 * steps.
 */
export class ShortTurns {
  readonly #now: () => number
  #since: number

  /** @param now milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#since = now()
  }

  /** Lets the event loop do other work when the steps since the last time took long. */
  async next(): Promise<void> {
    if (this.#now() - this.#since < TURN) return
    await turn()
    this.#since = this.#now()
  }
}
