/** Wakes a loop that waits for its next look: something came up before that. */

export interface Wake {
  /** Ends the wait that is under way, or else the next one. */
  raise(): void
  /** Resolves after so many milliseconds at most, or when the signal is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function createWake(): Wake {
  let raised = false
  let end: (() => void) | undefined
  return {
    raise() {
      raised = true
      end?.()
    },
    async wait(milliseconds, signal) {
      if (!raised && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, milliseconds)
        const stop = (): void => resolve()
        signal.addEventListener('abort', stop)
        end = resolve
        await promise
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
      }
      raised = false
      end = undefined
    },
  }
}
