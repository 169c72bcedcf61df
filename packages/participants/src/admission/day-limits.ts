/** How much a participant may have persisted in a day, as rows, and the check. */

import { CLOCK, type Clock } from '@rollcall/base/shared/clock'
import { type ShortLived, shortLived } from '@rollcall/base/shared/short-lived'
import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import type { Metrics } from '@rollcall/observe/metrics'
import { RequestFault } from '@rollcall/protocol'
import { type DayTable, type DayUse, useOfToday } from '../store/day-counts.ts'

interface DayBound {
  readonly table: DayTable
  /** The rows of `limits.ts`. */
  readonly messages: 'inbox_messages' | 'accepted_requests'
  readonly bytes: 'inbox_bytes' | 'accepted_bytes'
  /** The name in a refusal. */
  readonly name: string
}

const DAY_BOUNDS = {
  inbox: { table: 'inbox_day', messages: 'inbox_messages', bytes: 'inbox_bytes', name: 'callbacks' },
  accepted: {
    table: 'accepted_day',
    messages: 'accepted_requests',
    bytes: 'accepted_bytes',
    name: 'requests that are answered later',
  },
} as const satisfies Record<string, DayBound>

export interface DayBounded {
  readonly dayUses: DayUses
  readonly limits: Pick<Limits, 'inbox_messages' | 'inbox_bytes' | 'accepted_requests' | 'accepted_bytes'>
  readonly metrics: Pick<Metrics, 'requestRefused'>
}

interface Persisting<Result> {
  persist(): Promise<Result>
  /** The result of `persist` for a message that is stored already; null when it is not. */
  known(): Promise<Result | null>
}

/**
 * Stores a message unless its participant has reached its limit of the day. A message that is stored already is not
 * counted again, and its sender gets the answer even then.
 * @param participant `Participant.id`
 * @throws RequestFault 429 err.request.too_many_requests, with `retryAfter` until the next day
 */
export async function withinDailyLimit<Result>(
  { dayUses, limits, metrics }: DayBounded,
  bound: keyof typeof DAY_BOUNDS,
  participant: number,
  { persist, known }: Persisting<Result>,
): Promise<Result> {
  const { table, messages, bytes, name } = DAY_BOUNDS[bound]
  const used = await dayUses.of(table, participant)
  const full = used.messages >= limits[messages] ? messages : used.bytes >= limits[bytes] ? bytes : undefined
  if (full === undefined) return persist()
  const there = await known()
  if (there !== null) return there
  metrics.requestRefused(full)
  const text = `too many requests: at most ${limits[messages]} ${name} and ${limits[bytes]} bytes of them a day`
  throw new RequestFault('err.request.too_many_requests', text, undefined, { retryAfter: used.seconds_left })
}

export interface DayUses {
  /** @param participant `Participant.id` */
  of(table: DayTable, participant: number): Promise<DayUse>
}

/**
 * Caches the counts, so that a limit does not cost a statement for each message. Messages that arrive meanwhile are not
 * refused.
 */
export function createDayUses(db: Pick<Database, 'pool'>, { now }: Pick<Clock, 'now'> = CLOCK): DayUses {
  const usesIn = (table: DayTable): ShortLived<DayUse> => shortLived((id) => useOfToday(db, table, Number(id)), { now })
  const held = { inbox_day: usesIn('inbox_day'), accepted_day: usesIn('accepted_day') }
  return { of: (table, participant) => held[table].get(String(participant)) }
}
