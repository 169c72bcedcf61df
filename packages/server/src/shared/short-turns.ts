/** Long work that other work of the event loop does not wait for. */
import { performance } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'

/** Milliseconds. */
const TURN = 20

/** One for each piece of work; `next` is called between its steps. */
export class ShortTurns {
  #since = performance.now()

  /** Lets the event loop do other work when the steps since the last time took long. */
  async next(): Promise<void> {
    if (performance.now() - this.#since < TURN) return
    await turn()
    this.#since = performance.now()
  }
}
