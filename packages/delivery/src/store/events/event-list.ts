/** Lists events for operators: what happened when, never to whom. Tests and backfills are left out. */
import type { Database } from '@rollcall/database/database'

/** The conditions that listed events must fulfil. An absent condition allows every event. */
export interface EventChoice {
  /** The canonical name of the event type. */
  readonly event_type?: string
  readonly event_id?: string
  /** Only events that were recorded at this time or later. */
  readonly since?: Date
  /** Only events that were recorded before this time. */
  readonly until?: Date
  /** The id of an event: only events with a lower id. */
  readonly before?: number
}

export interface ListedEvent {
  readonly id: number
  readonly event_type: string
  readonly record_type: string
  readonly event_id: string | null
  readonly record_version: number
  readonly occurred_at: Date
  readonly recorded_at: Date
  readonly matched: number
  /** The id of the later event that corrects this event by taking it back; null when none does. */
  readonly corrected_by: number | null
}

/** Lists at most `limit` events, the newest first. */
export async function listEvents(
  { pool }: Pick<Database, 'pool'>,
  registryId: number,
  { event_type, event_id, since, until, before }: EventChoice,
  limit: number,
): Promise<readonly ListedEvent[]> {
  const { rows } = await pool.query<ListedEvent>(
    `select id, event_type, record_type, event_id, record_version, occurred_at, recorded_at, matched,
        reversed_by as corrected_by
      from event
      where registry = $1 and purpose = 'event' and ($2::text is null or event_type = $2) and ($3::text is null or event_id = $3)
        and ($4::timestamptz is null or recorded_at >= $4) and ($5::timestamptz is null or recorded_at < $5)
        and ($6::bigint is null or id < $6)
      order by id desc limit $7`,
    [registryId, ...[event_type, event_id, since, until, before].map((value) => value ?? null), limit],
  )
  return rows
}
