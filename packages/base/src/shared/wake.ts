/** Wakes a loop that waits for work: work has come, or will be due after some time. */

export interface LoopWake {
  /**
   * Ends the current wait, else the next one, after this many milliseconds (default: 0). When several calls come before that wait
   * ends, only the call with the earliest time has an effect.
   */
  raise(after?: number): void
  /** Resolves when the time that `raise` has set comes, or when the signal aborts. */
  wait(signal: AbortSignal): Promise<void>
}

/** The longest time for which a timer can run, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** @param now milliseconds of a clock that never goes back */
export function createLoopWake(now: () => number = () => performance.now()): LoopWake {
  let at = Number.POSITIVE_INFINITY
  let arm: (() => void) | undefined
  return {
    raise(after = 0) {
      const time = now() + after
      if (time >= at) return
      at = time
      arm?.()
    },
    async wait(signal) {
      if (!signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        let timer: NodeJS.Timeout | undefined
        const stop = (): void => resolve()
        arm = () => {
          clearTimeout(timer)
          const left = at - now()
          if (left <= 0) resolve()
          else if (at < Number.POSITIVE_INFINITY) timer = setTimeout(() => arm?.(), Math.min(left, LONGEST_TIMER_MS))
        }
        signal.addEventListener('abort', stop)
        arm()
        await promise
        arm = undefined
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
      }
      at = Number.POSITIVE_INFINITY
    },
  }
}
