/** What a participant may have kept in a day, as rows, and how it is held to it. */

import { RequestFault } from '@rollcall/protocol'
import type { Limits } from '../limits.ts'
import type { Metrics } from '../observe/metrics.ts'
import { type ShortLived, shortLived } from '../shared/short-lived.ts'
import type { Database } from '../store/db/database.ts'
import { type DayTable, type DayUse, useOfToday } from '../store/exchanges/day-counts.ts'

interface DayBound {
  readonly table: DayTable
  /** The rows of `limits.ts`. */
  readonly messages: 'inbox_messages' | 'accepted_requests'
  readonly bytes: 'inbox_bytes' | 'accepted_bytes'
  /** What a refusal calls them. */
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

interface Keeping<Kept> {
  keep(): Promise<Kept>
  /** What `keep` would answer for a message that is there; null for one that is not. */
  known(): Promise<Kept | null>
}

/**
 * Keeps a message unless its participant has had as much kept today as it may. What is there already takes no room:
 * its sender is told so even then.
 * @param participant `Participant.id`
 * @throws RequestFault 429 err.request.too_many_requests, with `retryAfter` until the next day
 */
export async function withinDay<Kept>(
  { dayUses, limits, metrics }: DayBounded,
  bound: keyof typeof DAY_BOUNDS,
  participant: number,
  { keep, known }: Keeping<Kept>,
): Promise<Kept> {
  const { table, messages, bytes, name } = DAY_BOUNDS[bound]
  const used = await dayUses.of(table, participant)
  const full = used.messages >= limits[messages] ? messages : used.bytes >= limits[bytes] ? bytes : undefined
  if (full === undefined) return keep()
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

const MAX_AGE = 500

/** So that a bound costs a statement now and then, and not one for each message; what comes between passes. */
export function createDayUses(db: Pick<Database, 'pool'>): DayUses {
  const usesIn = (table: DayTable): ShortLived<DayUse> =>
    shortLived((id) => useOfToday(db, table, Number(id)), { maxAge: MAX_AGE })
  const held = { inbox_day: usesIn('inbox_day'), accepted_day: usesIn('accepted_day') }
  return { of: (table, participant) => held[table].get(String(participant)) }
}
