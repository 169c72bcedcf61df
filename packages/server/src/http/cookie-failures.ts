/**
 * Limits how often an address can guess cookies of the console or of the partner page. Failures of the protocol are counted
 * elsewhere. A cookie that was valid on this node lately is always looked up, so that a stranger behind the same address locks
 * nobody out.
 */
import { createHash } from 'node:crypto'
import { createLruCache } from '@rollcall/base/shared/recently-used'
import type { Throttle } from '@rollcall/participants/admission/throttle'

export interface CookieFailures {
  /** Seconds until a cookie that is unknown on this node may be looked up again for this address; 0: now. */
  wait(unit: string, cookie: string): number
  /** Notes whether a cookie from this address (`unit`) was valid; an invalid one counts as a failure. */
  note(unit: string, cookie: string, isGood: boolean): void
}

const MOST_KNOWN_COOKIES = 10_000

export function createCookieFailures(failures: Throttle): CookieFailures {
  const known = createLruCache<string, true>(MOST_KNOWN_COOKIES)
  return {
    wait: (unit, cookie) => (known.has(cookieDigest(cookie)) ? 0 : failures.wait(unit)),
    note(unit, cookie, isGood) {
      if (isGood) {
        known.set(cookieDigest(cookie), true)
      } else {
        known.delete(cookieDigest(cookie))
        failures.fail(unit)
      }
    },
  }
}

/** The SHA-256 of a cookie. The cookie itself is a secret and does not stay in memory. */
const cookieDigest = (cookie: string): string => createHash('sha256').update(cookie).digest('base64')
