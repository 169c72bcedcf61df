/** The limits on the messages and bytes that are stored for a participant in one day, and the check of them. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createShortLivedCache, type ShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import type { Metrics } from '@rollcall/observe/metrics'
import { RequestFault } from '@rollcall/protocol'
import { type DayCountTable, type DayStorageUse, readDayStorageUse } from '../store/day-counts.ts'

interface DailyStorageLimit {
  readonly table: DayCountTable
  /** The names, in `limits.ts`, of the limits of messages and of their bytes. */
  readonly messages: 'inbox_messages' | 'accepted_requests'
  readonly bytes: 'inbox_bytes' | 'accepted_bytes'
  /** The word for the counted messages in the text of a refusal. */
  readonly name: string
}

const DAILY_STORAGE_LIMITS = {
  inbox: { table: 'inbox_day', messages: 'inbox_messages', bytes: 'inbox_bytes', name: 'callbacks' },
  accepted: {
    table: 'accepted_day',
    messages: 'accepted_requests',
    bytes: 'accepted_bytes',
    name: 'requests that are answered later',
  },
} as const satisfies Record<string, DailyStorageLimit>

/** The dependencies of `storeWithinDailyLimit`. */
export interface DayLimitDeps {
  readonly dayUses: DayStorageUseReader
  readonly limits: Pick<Limits, 'inbox_messages' | 'inbox_bytes' | 'accepted_requests' | 'accepted_bytes'>
  readonly metrics: Pick<Metrics, 'requestRefused'>
}

interface MessageToStore<Result> {
  persist(): Promise<Result>
  /** Returns the result of `persist` for a message that is stored already; null for a message that is not stored. */
  known(): Promise<Result | null>
}

/**
 * Stores a message unless its participant has reached a limit of the day. For a message that was stored before, returns
 * the earlier result, even above the limit.
 * @param participant `Participant.id`
 * @throws RequestFault 429 err.request.too_many_requests, with `retryAfter` until the next day
 */
export async function storeWithinDailyLimit<Result>(
  { dayUses, limits, metrics }: DayLimitDeps,
  bound: keyof typeof DAILY_STORAGE_LIMITS,
  participant: number,
  { persist, known }: MessageToStore<Result>,
): Promise<Result> {
  const { table, messages, bytes, name } = DAILY_STORAGE_LIMITS[bound]
  const used = await dayUses.of(table, participant)
  const full = used.messages >= limits[messages] ? messages : used.bytes >= limits[bytes] ? bytes : undefined
  if (full === undefined) return persist()
  const there = await known()
  if (there !== null) return there
  metrics.requestRefused(full)
  const text = `too many requests: at most ${limits[messages]} ${name} and ${limits[bytes]} bytes of them a day`
  throw new RequestFault('err.request.too_many_requests', text, undefined, { retryAfter: used.seconds_left })
}

/** Reads, through a cache, how much was stored for each participant today. */
export interface DayStorageUseReader {
  /**
   * Returns how much was stored for a participant today. The counts are at most half a second old.
   * @param participant `Participant.id`
   */
  of(table: DayCountTable, participant: number): Promise<DayStorageUse>
}

/**
 * Creates a cache of the counts, so that a check costs no statement for each message. Messages that arrive while a
 * count is cached are not in the count, so a participant may exceed its limit by these messages.
 */
export function createDayStorageUseReader(
  db: Pick<Database, 'pool'>,
  { now }: Pick<Clock, 'now'> = SYSTEM_CLOCK,
): DayStorageUseReader {
  const usesIn = (table: DayCountTable): ShortLivedCache<DayStorageUse> =>
    createShortLivedCache((id) => readDayStorageUse(db, table, Number(id)), { now })
  const cachesByTable = { inbox_day: usesIn('inbox_day'), accepted_day: usesIn('accepted_day') }
  return { of: (table, participant) => cachesByTable[table].get(String(participant)) }
}
