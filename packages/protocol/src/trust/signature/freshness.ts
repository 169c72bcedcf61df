/** Whether a signature is fresh: by its own times, or by the time of the message when it has none. */
import { normaliseTimestamp, timestampInstant } from '../../timestamps.ts'
import type { SignatureProfile } from './layout.ts'
import { LAYOUTS } from './layouts.ts'
import { invalid } from './problem.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE

/** All in seconds. Messages must be remembered for longer than any of these. */
export const FRESHNESS = {
  /** Clocks may differ by this much. */
  skew: 60,
  /** The longest time from created to expires. */
  longest_life: HOUR,
  /** The oldest accepted message signed without times of its own. */
  oldest_message: 24 * HOUR,
  /** The same on callback paths, where a message may be repeated unchanged for days. */
  oldest_callback: 96 * HOUR,
  /** The time by which the clock of the sender may be ahead. */
  newest_message: 5 * MINUTE,
} as const

export interface Freshness {
  readonly profile: Pick<SignatureProfile, 'layout'>
  /** Unix times in seconds, as `readSignature` gave them. */
  readonly created: number | null
  readonly expires: number | null
  /** The header's message_ts, of any type. */
  readonly message_ts: unknown
  /** Unix time in seconds; may have a fraction. */
  readonly now: number
  /** Seconds by which clocks may differ; 60 by default. */
  readonly skew?: number
  /** Whether the message came on a callback path. */
  readonly callback?: boolean
  /** Whether the message is a result, whose message_ts may be in a spelling of results. */
  readonly result?: boolean
}

/** @throws {SignatureProblem} `invalid` when the signature is out of date, not yet of date, or would live too long */
export function checkFreshness(freshness: Freshness): void {
  if (LAYOUTS[freshness.profile.layout].expires) checkOwnTimes(freshness)
  else checkMessageTime(freshness)
}

function checkOwnTimes({ created, expires, now, skew = FRESHNESS.skew }: Freshness): void {
  if (created === null || expires === null) throw invalid('the signature has no times')
  if (expires <= created) throw invalid('expires must be later than created')
  if (expires - created > FRESHNESS.longest_life) throw invalid('created and expires must be at most one hour apart')
  if (created > now + skew) throw invalid('created is in the future')
  if (expires < now - skew) throw invalid('the signature has expired')
}

function checkMessageTime({ message_ts, now, callback = false, result = false }: Freshness): void {
  const text = typeof message_ts === 'string' ? message_ts : ''
  const instant = timestampInstant(result ? normaliseTimestamp(text).text : text)
  if (instant === null) throw invalid('message_ts must be a date-time with a time zone')
  const age = now - instant / 1000
  if (age > (callback ? FRESHNESS.oldest_callback : FRESHNESS.oldest_message)) {
    throw invalid('message_ts is too old for a signature without expiry')
  }
  if (age < -FRESHNESS.newest_message) throw invalid('message_ts is in the future')
}
