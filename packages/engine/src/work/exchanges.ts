/** Answers exchanges on this node: claims as many as it has free slots, and renews the claims meanwhile. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '@rollcall/base/shared/clock'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import type pg from 'pg'
import type { ReservedWorkerSlot } from '../exchange/acceptance-slots.ts'
import { type AcceptedExchange, SMALL_REQUEST_BYTES } from '../store/exchanges/accepted-exchanges.ts'
import {
  type ClaimedExchange,
  claimExchanges,
  countExchangesByParticipant,
  releaseClaims,
  renewClaims,
} from '../store/exchanges/claims.ts'

/** Seconds until an exchange is tried again: after the first failed run, the second, and so on, then always the last. */
const BACKOFF_SECONDS: readonly number[] = [3, 8, 20, 55]

/**
 * After a poll with which a participant has its whole share of slots in work, polls claim nothing for so many milliseconds. They
 * claim earlier if no participant has more than half of its share in work any more. Then one claim takes many exchanges, which
 * costs little more than to claim one, and their answers are written together.
 */
const FULL_SLOT_SHARE_CLAIM_PAUSE_MS = 50

/** The dependencies and limits of `ExchangeWork`. */
export interface ExchangeWorkDeps {
  /** Connections for claims, apart from those that answer requests. */
  readonly pool: pg.Pool
  /** The most exchanges that this node answers at a time. */
  readonly slots: number
  /** The most large requests that are answered at a time; each participant has one at most. */
  readonly large: number
  /** The most batches that are answered at a time; one participant has half of these at most, rounded up. */
  readonly batches: number
  /** Seconds after which a claim ends if it is not renewed. */
  readonly lease: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly metrics: Pick<Metrics, 'taskEnded'>
  /** Answers one exchange. If it throws, the exchange is tried again later. */
  readonly answer: (exchange: ClaimedExchange, signal: AbortSignal) => Promise<void>
  /**
   * Asks for the next poll: at once when a slot becomes free, or after this many milliseconds when a poll puts off its claim to
   * claim more exchanges together.
   */
  readonly wake: (after?: number) => void
}

/** The part of a worker that answers accepted exchanges. */
export interface ExchangeWork {
  /** Claims exchanges that are due, as many as there are free slots, and begins to answer them. */
  poll(signal: AbortSignal): Promise<void>
  /**
   * Keeps a slot for an exchange that is about to be accepted. Null when the exchange must wait in the queue: it is large or a
   * batch, or one in work on this node is; any participant has its whole share in work; only the reserved slots are free; the
   * last poll did not find the queue empty; or the node stops.
   */
  keepSlot(exchange: AcceptedExchange, signal: AbortSignal): ReservedWorkerSlot | null
  /** Resolves when no exchange is in progress. */
  idle(): Promise<void>
  /**
   * Stops renewing claims, and releases the claims of exchanges in progress, so that other nodes answer these at once. Without
   * the claim of an exchange, this node can store no further page of its answer.
   */
  leave(): Promise<void>
}

export function createExchangeWork(deps: ExchangeWorkDeps): ExchangeWork {
  const { pool, slots, lease, log } = deps
  const inWork = new Map<ClaimedExchange, Promise<void>>()
  const { shares, mostOfOne, isUnlimited } = workSlotUsage(deps, inWork)
  let gathersUntil = 0
  /** True when the last poll found that no exchange waits to be claimed. */
  let isQueueEmpty = false

  const renew = (): void => {
    if (inWork.size === 0) return
    renewClaims(pool, [...inWork.keys()], lease).catch((error: unknown) =>
      log.warn({ database: safeDatabaseError(error) }, 'claims could not be renewed; tried again soon'),
    )
  }
  const timer = setInterval(renew, (lease * 1_000) / 4)
  timer.unref()

  const run = async (exchange: ClaimedExchange, signal: AbortSignal): Promise<void> => {
    const started = deps.clock.now()
    const ended = (outcome: 'done' | 'failed'): void =>
      deps.metrics.taskEnded('process', outcome, (deps.clock.now() - started) / 1_000)
    try {
      await deps.answer(exchange, signal)
      ended('done')
    } catch (error) {
      ended('failed')
      const { runs } = exchange
      log.warn({ task: 'process', attempt: runs, ...safeDatabaseError(error) }, 'an exchange is tried again')
      // If the release fails, the claim ends when its time is over.
      await releaseFailedExchange(pool, exchange).catch(() => undefined)
    } finally {
      inWork.delete(exchange)
      deps.wake()
    }
  }

  return {
    async poll(signal) {
      isQueueEmpty = false
      const free = slots - inWork.size
      if (free === 0) return
      const left = gathersUntil - deps.clock.now()
      if (left > 0 && mostOfOne() > shares.share / 2) return deps.wake(left)
      const claim = { id: randomUUID(), seconds: lease }
      const claimed = await claimExchanges(pool, claim, { free, ...shares }, [...inWork.keys()])
      for (const exchange of claimed) inWork.set(exchange, run(exchange, signal))
      if (mostOfOne() >= shares.share) gathersUntil = deps.clock.now() + FULL_SLOT_SHARE_CLAIM_PAUSE_MS
      isQueueEmpty = claimed.length === 0 && isUnlimited()
    },
    keepSlot(exchange, signal) {
      if (signal.aborted || !isQueueEmpty || !isSmallSingleItem(exchange) || !isUnlimited()) return null
      const claimed = { ...exchange, claim: randomUUID(), runs: 1 }
      const { promise, resolve } = Promise.withResolvers<void>()
      inWork.set(claimed, promise)
      return {
        claim: { id: claimed.claim, seconds: lease },
        begin: () => resolve(run(claimed, signal)),
        free() {
          inWork.delete(claimed)
          resolve()
          deps.wake()
        },
      }
    },
    async idle() {
      while (inWork.size > 0) await Promise.all(inWork.values())
    },
    async leave() {
      clearInterval(timer)
      if (inWork.size > 0) await releaseClaims(pool, [...inWork.keys()], { seconds: 0, counted: false })
    },
  }
}

/**
 * Releases an exchange after a run that ended with an error. The exchange is due again after a pause. `runs` counts only as many
 * of these runs as there are pauses. After that it counts only runs that ended with their node, because the exchange may be what
 * stops the nodes.
 */
function releaseFailedExchange(pool: pg.Pool, exchange: ClaimedExchange): Promise<void> {
  const { runs } = exchange
  const seconds = BACKOFF_SECONDS[Math.min(runs, BACKOFF_SECONDS.length) - 1] ?? 0
  return releaseClaims(pool, [exchange], { seconds, counted: runs <= BACKOFF_SECONDS.length })
}

/** The limits of the exchanges that a node may have in work, and how far they are used. */
function workSlotUsage(
  { slots, large, batches }: Pick<ExchangeWorkDeps, 'slots' | 'large' | 'batches'>,
  inWork: ReadonlyMap<ClaimedExchange, unknown>,
) {
  const shares = {
    share: Math.ceil(slots / 4),
    reserve: Math.max(1, Math.floor(slots / 8)),
    large,
    batches,
    batchShare: Math.ceil(batches / 2),
  }
  /** The number of exchanges in work of the participant that has most of them. */
  const mostOfOne = (): number =>
    Math.max(0, ...countExchangesByParticipant([...inWork.keys()]).map(({ exchanges }) => exchanges))
  return {
    shares,
    mostOfOne,
    /** True when no limit is reached, so that a poll may claim any exchange. If it then claims none, the queue is empty. */
    isUnlimited: (): boolean =>
      inWork.size < slots - shares.reserve && mostOfOne() < shares.share && [...inWork.keys()].every(isSmallSingleItem),
  }
}

/** False for large requests and batches, of which only few may be in work at a time. */
const isSmallSingleItem = ({ items, request_bytes }: AcceptedExchange): boolean =>
  items <= 1 && request_bytes <= SMALL_REQUEST_BYTES
