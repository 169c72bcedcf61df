/** Splits long work, so that other work of the event loop does not wait for it. */
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds of work after which `next` lets the event loop do other work. */
const EVENT_LOOP_TURN_MS = 20

/** Splits work into short turns of the event loop. Each piece of work has its own instance and calls `next` between steps. */
export class ShortEventLoopTurns {
  readonly #now: () => number
  #since: number

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#since = now()
  }

  /** Lets the event loop do other work if at least `EVENT_LOOP_TURN_MS` have passed since the last pause. */
  async next(): Promise<void> {
    if (this.#now() - this.#since < EVENT_LOOP_TURN_MS) return
    await nextTurn()
    this.#since = this.#now()
  }
}
