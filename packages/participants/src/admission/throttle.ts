/**
 * Counts failures of an address or another key, so that guessing of secrets becomes slow. The partner page, on which participants
 * see their own data, counts with it the calls of a participant, and the deliveries that the participant asks for again. Each
 * process counts alone: that is enough for secrets of 256 bits.
 */

import { createLruCache } from '@rollcall/base/shared/recently-used'

/** Counts failures by key, and says how long a key must wait. */
export interface Throttle {
  /** Seconds until `key` may try again; 0 when it may now. @param more failures that would be added; 1 by default */
  wait(key: string, more?: number): number
  /** Adds failures to the count of `key`. @param more failures to add; 1 by default */
  fail(key: string, more?: number): void
}

const WINDOW_MS = 60_000
const MOST_COUNTED_KEYS = 100_000

/**
 * Allows `limit` failures of a key in the minute from its first one.
 * @param now milliseconds of a clock that never goes back
 */
export function createThrottle(limit: number, now = () => performance.now()): Throttle {
  const failures = createLruCache<string, { since: number; count: number }>(MOST_COUNTED_KEYS)

  const current = (key: string): { since: number; count: number } | undefined => {
    const known = failures.get(key)
    if (known !== undefined && now() - known.since < WINDOW_MS) return known
    failures.delete(key)
    return undefined
  }

  return {
    wait(key, more = 1) {
      const known = current(key)
      if (known === undefined || known.count + more <= limit) return 0
      return Math.max(1, Math.ceil((WINDOW_MS - (now() - known.since)) / 1_000))
    },
    fail(key, more = 1) {
      const known = current(key)
      if (known !== undefined) known.count += more
      else failures.set(key, { since: now(), count: more })
    },
  }
}
