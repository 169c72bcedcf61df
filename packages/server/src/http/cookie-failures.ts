/**
 * Limits how often an address can guess cookies of the console or of the partner page. Failures of the protocol are counted
 * elsewhere. The failures of an address do not stop the last 10,000 cookies that were valid on this node, so that a stranger
 * behind the same address locks nobody out.
 */
import { createHash } from 'node:crypto'
import { createLruCache } from '@rollcall/base/shared/recently-used'
import type { Throttle } from '@rollcall/participants/admission/throttle'

/** `unit` is the name of the cookie and the client's IPv4 address, or the /64 of its IPv6 address. */
export interface CookieGuessLimiter {
  /** Seconds until a cookie from this unit may be looked up again; 0: now, and always for a cookie that was valid here. */
  wait(unit: string, cookie: string): number
  /** Notes whether a cookie from this unit was valid; an invalid one counts as a failure of the unit. */
  note(unit: string, cookie: string, isGood: boolean): void
}

const MOST_KNOWN_COOKIES = 10_000

export function createCookieGuessLimiter(failures: Throttle): CookieGuessLimiter {
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
