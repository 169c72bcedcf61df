/** Checks that a signature is fresh: by its own times, or by the time of the message when it has none. */
import { normaliseTimestamp, timestampInstant } from '../../timestamps.ts'
import type { SignatureProfile } from './layout.ts'
import { LAYOUTS } from './layouts.ts'
import { invalid } from './problem.ts'

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 60 * MINUTE_SECONDS

/**
 * Limits in seconds. A message_id must be remembered for longer than each of these limits, so that no message is accepted twice.
 */
export const SIGNATURE_FRESHNESS_SECONDS = {
  /** The difference between the sender's clock and ours that is tolerated by default. */
  skew: 60,
  /** The longest time from `created` to `expires` of a signature. */
  longest_life: HOUR_SECONDS,
  /** The age of the oldest accepted message whose signature has no times. */
  oldest_message: 24 * HOUR_SECONDS,
  /** On callback paths, the age of the oldest accepted message whose signature has no times; retries take days. */
  oldest_callback: 96 * HOUR_SECONDS,
  /** How far `message_ts` may be ahead of our clock, when the signature has no times. */
  newest_message: 5 * MINUTE_SECONDS,
} as const

/** The times of a signature and of its message, and where the message came from. */
export interface Freshness {
  readonly profile: Pick<SignatureProfile, 'layout'>
  /** Seconds since 1970, from `readSignature`; null when the layout has no times. `expires` likewise. */
  readonly created: number | null
  readonly expires: number | null
  /** The header's message_ts, of any type. */
  readonly message_ts: unknown
  /** The current time in seconds since 1970, perhaps with a fraction. */
  readonly now: number
  /** Seconds by which clocks may differ; 60 by default. */
  readonly skew?: number
  /** True when the message came on a callback path. */
  readonly callback?: boolean
  /**
   * True for an answer or a callback, false for a request. The message_ts of an answer or a callback may have a space before the
   * time, a zone without a colon, or no zone (UTC).
   */
  readonly result?: boolean
}

/**
 * Checks the times. @throws {SignatureProblem} `invalid`: the signature is too old, of the future, or lives too long
 */
export function checkFreshness(freshness: Freshness): void {
  if (LAYOUTS[freshness.profile.layout].expires) checkSignatureTimes(freshness)
  else checkMessageTime(freshness)
}

function checkSignatureTimes({ created, expires, now, skew = SIGNATURE_FRESHNESS_SECONDS.skew }: Freshness): void {
  if (created === null || expires === null) throw invalid('the signature has no times')
  if (expires <= created) throw invalid('expires must be later than created')
  if (expires - created > SIGNATURE_FRESHNESS_SECONDS.longest_life)
    throw invalid('created and expires must be at most one hour apart')
  if (created > now + skew) throw invalid('created is in the future')
  if (expires < now - skew) throw invalid('the signature has expired')
}

function checkMessageTime({ message_ts, now, callback = false, result = false }: Freshness): void {
  const text = typeof message_ts === 'string' ? message_ts : ''
  const instant = timestampInstant(result ? normaliseTimestamp(text).text : text)
  if (instant === null) throw invalid('message_ts must be a date-time with a time zone')
  const age = now - instant / 1000
  if (age > (callback ? SIGNATURE_FRESHNESS_SECONDS.oldest_callback : SIGNATURE_FRESHNESS_SECONDS.oldest_message)) {
    throw invalid('message_ts is too old for a signature without expiry')
  }
  if (age < -SIGNATURE_FRESHNESS_SECONDS.newest_message) throw invalid('message_ts is in the future')
}
