/**
 * Decides the state of a delivery after an attempt, and computes when the next one is due: from the number of attempts and the
 * peer's Retry-After.
 */
import type { ClaimedDelivery, DeliveryUpdate } from '@rollcall/core/model/delivery'
import type { AttemptResult } from './failures.ts'

/**
 * The seconds between attempts: 5 s at first, about 72 hours in all. The specification does not define them (N16 in
 * docs/conformance.md).
 */
export const DEFAULT_SCHEDULE: readonly number[] = [
  5,
  30,
  120,
  300,
  900,
  1_800,
  3_600,
  7_200,
  14_400,
  ...Array<number>(8).fill(28_800),
]

/**
 * The share of a pause by which it is made longer or shorter at random, so that deliveries that failed together are not
 * all attempted again together.
 */
const PAUSE_JITTER_SHARE = 0.1
/** The most seconds that a peer may ask us to wait. */
const MOST_RETRY_AFTER_SECONDS = 86_400

/**
 * Seconds until the next attempt; null when there is no further one.
 * @param attempts the number of attempts so far, at least 1
 * @param asked.retryAfter seconds that the peer asked for: a lower limit, of at most `MOST_RETRY_AFTER_SECONDS`
 * @param asked.random 0 to 1, for the jitter
 */
export function secondsUntilNextAttempt(
  schedule: readonly number[],
  attempts: number,
  { retryAfter = 0, random = Math.random() }: { retryAfter?: number; random?: number } = {},
): number | null {
  const pause = schedule[attempts - 1]
  if (pause === undefined) return null
  return Math.max(
    pause * (1 - PAUSE_JITTER_SHARE + 2 * PAUSE_JITTER_SHARE * random),
    Math.min(retryAfter, MOST_RETRY_AFTER_SECONDS),
  )
}

/** The new state of a delivery after an attempt, and the time of its next one. */
export function decideDeliveryUpdate(
  { number, earlier, mailbox = null }: Pick<ClaimedDelivery, 'number' | 'earlier' | 'mailbox'>,
  { result, retry_after: retryAfter }: { readonly result: AttemptResult; readonly retry_after: number },
  schedule: readonly number[],
): DeliveryUpdate {
  const { name } = result
  const attemptsSinceRestart = number - earlier
  const verdict = mailbox === null ? result.verdict : (result.notification ?? result.verdict)
  if (verdict === 'delivered') return { state: 'delivered', wait: null, reason: null }
  if (verdict !== 'retry') return { state: verdict, wait: null, reason: name }
  // Later envelopes of the mailbox wait for this one. So its delivery is not given up at the end of the schedule: the last pause
  // is repeated until the retention time closes the mailbox.
  const steps = mailbox === null ? attemptsSinceRestart : Math.min(attemptsSinceRestart, schedule.length)
  const wait = secondsUntilNextAttempt(schedule, steps, { retryAfter })
  return wait === null ? { state: 'dead', wait: null, reason: name } : { state: 'pending', wait, reason: null }
}

/** The most seconds for which an open breaker pauses, even when the schedule has longer pauses. */
const MOST_BREAKER_PAUSE_SECONDS = 300

/** The longest pause of an open breaker in seconds: no longer than the longest pause of the schedule. */
export const longestBreakerPauseSeconds = (schedule: readonly number[]): number =>
  Math.min(MOST_BREAKER_PAUSE_SECONDS, Math.max(0, ...schedule))

/** The most seconds in which a delivery has all attempts of a schedule, if the peer asks for no longer pauses. */
export const mostWholeScheduleSeconds = (schedule: readonly number[]): number =>
  schedule.reduce((sum, pause) => sum + pause, 0) * (1 + PAUSE_JITTER_SHARE)

/** The seconds in a Retry-After header (RFC 9110, 10.2.3); 0 when there is none, or it cannot be read. */
export function readRetryAfter(header: string | string[] | undefined, now: number): number {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const until = /^[A-Za-z]{3}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(until) ? 0 : Math.max(0, Math.ceil((until - now) / 1_000))
}

/** Reads a schedule: at most 100 numbers of seconds with commas between them. Null when the text is no schedule. */
export function parseSchedule(text: string): readonly number[] | null {
  const steps = text.split(',').map((step) => step.trim())
  if (steps.length > 100 || !steps.every((step) => /^\d{1,7}(\.\d{1,3})?$/.test(step))) return null
  return steps.map(Number)
}
