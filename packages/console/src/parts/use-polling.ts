/** Asking again while something moves, as long as somebody is there: a forgotten page must not keep a session alive. */
import { useEffect } from 'react'

/** After this time without a key, a pointer or a scroll nobody is there. */
const ALONE_MS = 300_000

let lastInput = 0
const seen = (): void => {
  lastInput = performance.now()
}

/** For `refetchInterval`: the milliseconds, or false while nobody is there. */
export function usePolling(ms: number): () => number | false {
  useEffect(() => {
    seen()
    const events = ['pointermove', 'keydown', 'scroll', 'focus'] as const
    for (const name of events) addEventListener(name, seen, { passive: true, capture: true })
    return () => {
      for (const name of events) removeEventListener(name, seen, { capture: true })
    }
  }, [])
  return () => (performance.now() - lastInput < ALONE_MS ? ms : false)
}
