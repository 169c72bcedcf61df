/** The quotas of requests: how many a participant, and all participants together, may send a second and at a time. */

import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import type { Semaphore, Slot } from '@rollcall/base/shared/semaphore'
import type { Limits } from '@rollcall/core/limits'
import type { Participant } from '@rollcall/core/model/participant'
import type { QuotaName } from '@rollcall/observe/metrics'
import { RequestFault } from '@rollcall/protocol'
import type { TokensTaken, TokensWanted } from '../store/quotas.ts'
import { createRateLimiter } from './rate.ts'

/** Admits requests of participants, as long as their quotas of requests allow it. */
export interface Quota {
  /**
   * Admits one request of the participant. It counts as in flight until `leave` is called.
   * @throws RequestFault 429 err.request.too_many_requests with `retryAfter`. Errors of the database are passed on, so
   * no request is admitted without being counted.
   */
  enter(participant: QuotaOwner): Promise<Admission>
}

/** A request that was admitted and has not ended. */
export interface Admission {
  /**
   * Counts more bytes of the request's body, which are in memory until `leave`. While no other request has bytes in memory,
   * the request may have any number; while no other of its participant has, it may exceed the participant's share.
   * @throws RequestFault 429: the participant, or all participants together, would have too many bytes in memory
   */
  readonly hold: (bytes: number) => void
  /**
   * Counts the answer in place of the body, until `leave`: each character as one byte, at most as many as are left of the
   * participant's share. Later requests may be refused because of this count, but never this answer.
   */
  readonly holdAnswer: (characters: number) => void
  /**
   * Waits until this node works on no other large request of the participant, so that a participant with many of them
   * leaves processor time to others. The turn ends with `endLargeTurn` or `leave`.
   */
  readonly waitForLargeTurn: () => Promise<void>
  readonly endLargeTurn: () => void
  /** Ends the request. Further calls do nothing. @param how `refused`: the turn for a large request ends 100 ms later */
  leave(how?: { readonly refused: boolean }): void
}

/** A participant with its own limits; a limit of null is that of the server. */
export type QuotaOwner = Pick<Participant, 'id' | 'rate_limit' | 'concurrency_limit'>

interface QuotaDeps {
  readonly limits: Pick<
    Limits,
    'participant_rate' | 'participant_concurrency' | 'total_rate' | 'total_concurrency' | 'total_bytes'
  >
  readonly metrics: { requestRefused(quota: QuotaName): void }
  /** Takes tokens from the buckets that all nodes share (`takeTokens`). */
  readonly take: (asked: TokensWanted) => Promise<TokensTaken>
  readonly turns: Semaphore
  /** Calls a function after this many milliseconds. The default is a timer that does not keep the process alive. */
  readonly delay?: (work: () => void, milliseconds: number) => void
}

/** The name of the bucket for the requests of all participants together. */
const TOTAL_BUCKET_NAME = 'total'

/** Milliseconds between a refused large request and the next large one of its participant: at most ten a second. */
const REFUSED_LARGE_REQUEST_PAUSE_MS = 100

/** Creates the quotas. Requests at a time are counted on this node; requests a second on all nodes together. */
export function createQuota({ limits, metrics, take, turns, delay = SYSTEM_CLOCK.later }: QuotaDeps): Quota {
  const rates = createRateLimiter(take)
  const inFlight = new Map<number, number>()
  const heldBytes = createBodyByteCounter(limits.total_bytes)
  let total = 0

  const occupy = ({ id, concurrency_limit }: QuotaOwner): Admission => {
    const mine = inFlight.get(id) ?? 0
    const limit = concurrency_limit ?? limits.participant_concurrency
    if (mine >= limit) {
      throw refusal('participant_concurrency', 1, `at most ${limit} requests of a participant at a time`)
    }
    if (total >= limits.total_concurrency) throw refusal('total_concurrency', 1, BUSY_TEXT)
    inFlight.set(id, mine + 1)
    total += 1
    const held = heldBytes.begin(id)
    const hold = (bytes: number): void => {
      const whose = held.add(bytes)
      if (whose === 'participant') {
        throw refusal('participant_bytes', 1, `at most ${heldBytes.share} bytes of a participant at a time`)
      }
      if (whose === 'total') throw refusal('total_bytes', 1, BUSY_TEXT)
    }
    const left = (): void => {
      total -= 1
      held.release()
      const others = (inFlight.get(id) ?? 1) - 1
      if (others > 0) inFlight.set(id, others)
      else inFlight.delete(id)
    }
    return {
      hold,
      holdAnswer: held.addAnswer,
      ...createAdmissionTurnAndLeave(() => turns.take(`large requests of ${id}`), delay, left),
    }
  }

  const count = async ({ id, rate_limit }: QuotaOwner): Promise<void> => {
    const bucket = `participant ${id}`
    const rate = rate_limit ?? limits.participant_rate
    const wait = await rates.pass(bucket, rate)
    if (wait > 0) throw refusal('participant_rate', wait, `at most ${rate} requests of a participant a second`)
    const waitAll = await rates.pass(TOTAL_BUCKET_NAME, limits.total_rate)
    if (waitAll === 0) return
    rates.giveBack(bucket)
    throw refusal('total_rate', waitAll, BUSY_TEXT)
  }

  const refusal = (quota: QuotaName, wait: number, text: string): RequestFault => {
    metrics.requestRefused(quota)
    const retryAfter = Math.max(1, Math.ceil(wait))
    return new RequestFault('err.request.too_many_requests', `too many requests: ${text}`, undefined, { retryAfter })
  }

  return {
    async enter(participant) {
      // A request takes its place before it waits for the rate, so no more requests wait than may be in flight.
      const admission = occupy(participant)
      try {
        await count(participant)
        return admission
      } catch (error) {
        admission.leave()
        throw error
      }
    },
  }
}

/**
 * Creates three functions of an admission: `waitForLargeTurn` and `endLargeTurn` begin and end the turn for a large request,
 * `leave` ends the request and its turn.
 * @param left is called once by `leave`: ends the counts of the request and of its bytes
 */
function createAdmissionTurnAndLeave(
  takeTurn: () => Slot,
  delay: NonNullable<QuotaDeps['delay']>,
  left: () => void,
): Omit<Admission, 'hold' | 'holdAnswer'> {
  let inside = true
  let turn: Slot | undefined
  const endLargeTurn = (): void => {
    turn?.end()
    turn = undefined
  }
  return {
    async waitForLargeTurn() {
      if (turn !== undefined || !inside) return
      turn = takeTurn()
      await turn.begun
    },
    endLargeTurn,
    leave({ refused } = { refused: false }) {
      if (!inside) return
      inside = false
      if (refused && turn !== undefined) delay(endLargeTurn, REFUSED_LARGE_REQUEST_PAUSE_MS)
      else endLargeTurn()
      left()
    },
  }
}

/** The text of a refusal when all participants together reach a limit. It does not tell how much others send. */
const BUSY_TEXT = 'the service is busy; try again later'

/** The bytes of bodies and answers in memory on this node. One participant may have half of the bytes that are allowed. */
interface BodyByteCounter {
  /** The bytes of bodies that one participant may have in memory. */
  readonly share: number
  /** Begins to count the bytes in memory of one request. @param participant `Participant.id` */
  begin(participant: number): RequestByteCount
}

interface RequestByteCount {
  /**
   * Counts this many more bytes until `release`. A participant's only request may exceed the participant's share, and
   * the only request of all may exceed every limit.
   * @returns 'held', or the limit that is exceeded; then nothing is counted
   */
  add(bytes: number): 'held' | 'participant' | 'total'
  /** Counts the bytes of an answer in place of the body: at most as many as are left of the participant's share. */
  addAnswer(bytes: number): void
  /** Ends the count of the request's bytes. Further calls do nothing. */
  release(): void
}

/** Creates the count of bytes in memory. @param most bytes at a time, of all participants */
export function createBodyByteCounter(most: number): BodyByteCounter {
  const share = Math.floor(most / 2)
  const heldBy = new Map<number, number>()
  let total = 0
  return {
    share,
    begin(participant) {
      let own = 0
      const count = (bytes: number): void => {
        own += bytes
        total += bytes
        heldBy.set(participant, (heldBy.get(participant) ?? 0) + bytes)
      }
      const release = (): void => {
        total -= own
        const rest = (heldBy.get(participant) ?? 0) - own
        if (rest > 0) heldBy.set(participant, rest)
        else heldBy.delete(participant)
        own = 0
      }
      return {
        release,
        add(bytes) {
          const others = (heldBy.get(participant) ?? 0) - own
          if (others > 0 && others + own + bytes > share) return 'participant'
          if (total > own && total + bytes > most) return 'total'
          count(bytes)
          return 'held'
        },
        addAnswer(bytes) {
          release()
          count(Math.max(0, Math.min(bytes, share - (heldBy.get(participant) ?? 0))))
        },
      }
    },
  }
}
