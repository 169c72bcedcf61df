/**
 * Watches the database for this node: for requests that fail, for `/ready` and for metrics. It has a circuit breaker
 * for writes, because reads still work when the disk is full.
 */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { BreakerState } from '@rollcall/core/model/breaker'
import { isWriteRefusal, safeDatabaseError } from '@rollcall/database/database-errors'
import { createFloodLimitingLog, type Log } from './log.ts'

export interface DatabaseHealth {
  /** Logs that a request failed because of the database, and opens the breaker when a write was refused. */
  failed(error: unknown): void
  /** `open` for 10 s after a write was refused, then `probing`; `closed` when the write of `isReady` succeeds. */
  breaker(): BreakerState
  /**
   * True when the database answers a read. After a refused write: false while the breaker is open, then true when the
   * database accepts a write. The database is asked at most once a second.
   */
  isReady(): Promise<boolean>
}

/** Milliseconds between two log lines about the same error. */
const LOG_PERIOD_MS = 1_000
/** The number of different errors that have log lines of their own. */
const MOST_LOGGED_ERRORS = 10
/** Milliseconds for which the breaker stays open after PostgreSQL refused a write, for example with a full disk. */
const BREAKER_OPEN_MS = 10_000
/** Milliseconds for which a result of `isReady` is reused. */
const READY_REUSE_MS = 1_000
/** Milliseconds within which the database must answer a probe. */
const PROBE_TIMEOUT_MS = 2_000

/** Watches a database. @param deps.read reads from the database; `deps.write` writes a row that nothing else uses */
export function createDatabaseHealth(
  deps: { readonly log: Pick<Log, 'error'>; readonly read: () => Promise<unknown>; readonly write: () => Promise<unknown> },
  { now, later }: Pick<Clock, 'now' | 'later'> = SYSTEM_CLOCK,
): DatabaseHealth {
  /** The time until which the breaker is open; from then on it is probing. Null when it is closed. */
  let openUntil: number | null = null
  const lines = createFloodLimitingLog({
    period: LOG_PERIOD_MS,
    most: MOST_LOGGED_ERRORS,
    later,
    report: (database, requests) =>
      deps.log.error({ ...(database !== null && { database }), requests }, 'the database is not available'),
  })

  const failed = (error: unknown): void => {
    if (isWriteRefusal(error)) openUntil = now() + BREAKER_OPEN_MS
    lines.note(safeDatabaseError(error))
  }
  const breaker = (): BreakerState => {
    if (openUntil === null) return 'closed'
    return now() < openUntil ? 'open' : 'probing'
  }
  const ask = async (): Promise<boolean> => {
    const before = openUntil
    if (before === null) return isAnsweredInTime(deps.read())
    const written = await isAnsweredInTime(
      deps.write().catch((error: unknown) => {
        if (isWriteRefusal(error)) failed(error)
        throw error
      }),
    )
    // If another write was refused meanwhile, the breaker has opened again and stays open.
    if (written && openUntil === before) openUntil = null
    return openUntil === null
  }
  const { get } = createShortLivedCache(ask, { maxAge: READY_REUSE_MS, now })
  return { failed, breaker, isReady: async () => breaker() !== 'open' && get('database') }
}

async function isAnsweredInTime(asked: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), PROBE_TIMEOUT_MS)
  const answered = asked.then(
    () => true,
    () => false,
  )
  const ready = await Promise.race([answered, late.promise])
  clearTimeout(timer)
  return ready
}
