/** Decides which requests are sent again, and when. */
import { TransportError } from '../errors.ts'
import type { HttpAnswer } from './post.ts'

/** How often and when requests are sent again. Times are in milliseconds. */
export interface Retry {
  /** The number of attempts, the first one included. */
  readonly attempts: number
  /**
   * The longest pause before the second attempt. Before each further attempt the longest pause is twice as long, up to
   * `longest_pause`. If the Retry-After of an answer is longer than the pause, the client waits for that time.
   */
  readonly first_pause: number
  readonly longest_pause: number
  /** The longest Retry-After, in milliseconds, that is waited for; a longer one ends the attempts. */
  readonly longest_retry_after: number
}

/** The values for options of `Retry` that are not given. */
export const DEFAULT_RETRY: Retry = { attempts: 4, first_pause: 250, longest_pause: 10_000, longest_retry_after: 60_000 }

const TRANSIENT_STATUSES = [429, 502, 503, 504]

/** True for an answer after which a later attempt may succeed: HTTP status 429, 502, 503 or 504. */
export const isTransientAnswer = ({ status }: Pick<HttpAnswer, 'status'>): boolean => TRANSIENT_STATUSES.includes(status)

/** True when no answer came. The same message may then be sent again. */
export const isTransientError = (error: unknown): error is TransportError =>
  error instanceof TransportError && (error.reason === 'unreachable' || error.reason === 'timeout')

/**
 * Milliseconds before the next attempt. The pause doubles up to `longest_pause`. Then it is made shorter by a random part, at
 * most a half, so that many clients do not come back at the same time.
 * @param failed the number of failed attempts so far, at least 1
 * @param random between 0 and 1
 */
export function pauseAfter(failed: number, retry: Retry, random: number): number {
  const whole = Math.min(retry.first_pause * 2 ** (failed - 1), retry.longest_pause)
  return whole / 2 + (whole / 2) * random
}

/** Milliseconds from `now` to a Retry-After in seconds or as a date (RFC 9110, 10.2.3); undefined for none. */
export function retryAfter({ headers }: Pick<HttpAnswer, 'headers'>, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** An answer, with the number of requests that were sent for it. */
export interface AnswerAfterAttempts extends HttpAnswer {
  readonly attempts: number
}

/**
 * Repeats an attempt while the answer or the error is transient. Ends also after `retry.attempts` attempts, or when the
 * Retry-After of an answer is longer than `retry.longest_retry_after`. Returns the last answer.
 * @throws TransportError of the last attempt
 * @throws other errors of `attempt` unchanged; the reason of `signal` when it aborts during a pause
 */
export async function withRetries(
  attempt: () => Promise<HttpAnswer>,
  retry: Retry,
  signal?: AbortSignal,
  wait: typeof sleep = sleep,
): Promise<AnswerAfterAttempts> {
  for (let attempts = 1; ; attempts += 1) {
    const last = attempts >= retry.attempts
    let pause = pauseAfter(attempts, retry, Math.random())
    try {
      const answer = await attempt()
      if (last || !isTransientAnswer(answer)) return { ...answer, attempts }
      const asked = retryAfter(answer, Date.now()) ?? 0
      if (asked > retry.longest_retry_after) return { ...answer, attempts }
      pause = Math.max(pause, asked)
    } catch (error) {
      if (!(error instanceof TransportError)) throw error
      if (last || !isTransientError(error)) {
        const { reason, message, httpStatus, cause } = error
        throw new TransportError(reason, message, { attempts, cause, ...(httpStatus !== undefined && { httpStatus }) })
      }
    }
    await wait(pause, signal)
  }
}

/** Waits. @throws the reason of `signal` as soon as it aborts */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/**
 * Waits for work that several callers share: the work goes on when this wait is aborted.
 * @throws the reason of `signal` as soon as it aborts; if it has aborted before, the work does not begin
 */
export async function awaitUnlessAborted<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work()
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
