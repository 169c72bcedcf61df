/** How much a participant, and all together, may ask of us: requests a second and requests at a time. */

import type { Semaphore, Slot } from '@rollcall/base/shared/semaphore'
import type { Limits } from '@rollcall/core/limits'
import type { Participant } from '@rollcall/core/model/participant'
import type { QuotaName } from '@rollcall/observe/metrics'
import { RequestFault } from '@rollcall/protocol'
import type { Asked, Granted } from '../store/quotas.ts'
import { createRates } from './rate.ts'

export interface Quota {
  /**
   * Lets one request of the participant in; it counts as in flight until `leave`.
   * @throws RequestFault 429 err.request.too_many_requests with `retryAfter`. What the database throws when it
   * is away is thrown on: nobody passes who cannot be counted.
   */
  enter(participant: QuotaOwner): Promise<Visit>
}

export interface Visit {
  /**
   * So many bytes more of its body are held in memory until `leave`. A request that is alone may hold what it likes.
   * @throws RequestFault 429 when those of its participant, or of all, are too many
   */
  readonly hold: (bytes: number) => void
  /**
   * Waits until no other large request of the participant is in work on this node: one at a time, so that a participant
   * with many of them leaves processor time to the others. The turn ends with `endTurn`, or with `leave`.
   */
  readonly largeTurn: () => Promise<void>
  readonly endTurn: () => void
  /**
   * The request is answered. More than once does no harm.
   * @param refused the next large request of the participant then waits a moment longer: refusing is work, too
   */
  leave(refused?: boolean): void
}

export type QuotaOwner = Pick<Participant, 'id' | 'rate_limit' | 'concurrency_limit'>

interface Parts {
  readonly limits: Pick<
    Limits,
    'participant_rate' | 'participant_concurrency' | 'total_rate' | 'total_concurrency' | 'total_bytes'
  >
  readonly metrics: { requestRefused(quota: QuotaName): void }
  /** Takes from the buckets that all nodes share (`takeTokens`). */
  readonly take: (asked: Asked) => Promise<Granted>
  readonly turns: Semaphore
  /** Calls the function so many milliseconds later; by default by a timer that does not keep the process alive. */
  readonly delay?: (work: () => void, milliseconds: number) => void
}

const waitFor = (work: () => void, milliseconds: number): void => {
  setTimeout(work, milliseconds).unref()
}

/** The bucket from which every request takes. */
const TOTAL = 'total'

/** Milliseconds from a refused large request to the next large one of its participant: at most ten a second. */
const REFUSED_PAUSE = 100

/** Concurrency is counted on this node, rates on all nodes together. */
export function createQuota({ limits, metrics, take, turns, delay = waitFor }: Parts): Quota {
  const rates = createRates(take)
  const inFlight = new Map<number, number>()
  const heldBytes = createHeldBytes(limits.total_bytes)
  let total = 0

  const occupy = ({ id, concurrency_limit }: QuotaOwner): Visit => {
    const mine = inFlight.get(id) ?? 0
    const limit = concurrency_limit ?? limits.participant_concurrency
    if (mine >= limit) {
      throw refusal('participant_concurrency', 1, `at most ${limit} requests of a participant at a time`)
    }
    if (total >= limits.total_concurrency) throw refusal('total_concurrency', 1, BUSY)
    inFlight.set(id, mine + 1)
    total += 1
    let inside = true
    const held = heldBytes.begin(id)
    const hold = (bytes: number): void => {
      const whose = held.add(bytes)
      if (whose === 'participant') {
        throw refusal('participant_bytes', 1, `at most ${heldBytes.share} bytes of a participant at a time`)
      }
      if (whose === 'total') throw refusal('total_bytes', 1, BUSY)
    }
    let turn: Slot | undefined
    const endTurn = (): void => {
      turn?.end()
      turn = undefined
    }
    const largeTurn = async (): Promise<void> => {
      if (turn !== undefined || !inside) return
      turn = turns.take(`large requests of ${id}`)
      await turn.begun
    }
    const leave = (refused = false): void => {
      if (!inside) return
      inside = false
      if (refused && turn !== undefined) delay(endTurn, REFUSED_PAUSE)
      else endTurn()
      total -= 1
      held.release()
      const others = (inFlight.get(id) ?? 1) - 1
      if (others > 0) inFlight.set(id, others)
      else inFlight.delete(id)
    }
    return { hold, largeTurn, endTurn, leave }
  }

  const count = async ({ id, rate_limit }: QuotaOwner): Promise<void> => {
    const bucket = `participant ${id}`
    const rate = rate_limit ?? limits.participant_rate
    const wait = await rates.pass(bucket, rate)
    if (wait > 0) throw refusal('participant_rate', wait, `at most ${rate} requests of a participant a second`)
    const waitAll = await rates.pass(TOTAL, limits.total_rate)
    if (waitAll === 0) return
    rates.giveBack(bucket)
    throw refusal('total_rate', waitAll, BUSY)
  }

  const refusal = (quota: QuotaName, wait: number, text: string): RequestFault => {
    metrics.requestRefused(quota)
    const retryAfter = Math.max(1, Math.ceil(wait))
    return new RequestFault('err.request.too_many_requests', `too many requests: ${text}`, undefined, { retryAfter })
  }

  const enter = async (participant: QuotaOwner): Promise<Visit> => {
    // First, so that no more of a participant can wait for its rate than may be in flight.
    const visit = occupy(participant)
    try {
      await count(participant)
      return visit
    } catch (error) {
      visit.leave()
      throw error
    }
  }

  return { enter }
}

/** Of all participants together; how many that is does not concern a single one. */
const BUSY = 'the service is busy; try again later'

/** Bytes that are held in memory on this node, shared out among the participants: half of them for one at most. */
interface HeldBytes {
  /** Bytes that one participant may hold. */
  readonly share: number
  /** What the participant, known by its id, holds from now on for one piece of work. */
  begin(participant: number): Holding
}

interface Holding {
  /**
   * So many bytes more are held until `release`. A single holding may have any size: a participant's only holding as
   * far as its share goes, the only one of all as far as all do. Otherwise nothing is held, and whose bytes are too
   * many is the answer.
   */
  add(bytes: number): 'held' | 'participant' | 'total'
  /** More than once does no harm. */
  release(): void
}

/** @param most bytes at a time, of all participants */
export function createHeldBytes(most: number): HeldBytes {
  const share = Math.floor(most / 2)
  const heldBy = new Map<number, number>()
  let total = 0
  return {
    share,
    begin(participant) {
      let own = 0
      return {
        add(bytes) {
          const others = (heldBy.get(participant) ?? 0) - own
          if (others > 0 && others + own + bytes > share) return 'participant'
          if (total > own && total + bytes > most) return 'total'
          own += bytes
          total += bytes
          heldBy.set(participant, others + own)
          return 'held'
        },
        release() {
          total -= own
          const rest = (heldBy.get(participant) ?? 0) - own
          if (rest > 0) heldBy.set(participant, rest)
          else heldBy.delete(participant)
          own = 0
        },
      }
    },
  }
}
