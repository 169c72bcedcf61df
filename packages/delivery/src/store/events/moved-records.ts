/** Changes the record ids of events when their registry begins to read its records in another way. */

import { toStoredIdSql } from '@rollcall/database/record-ids'
import type { ClientBase } from 'pg'

/** A record type of a registry, and SQL of the former and the new ids of its records. */
export interface RecordIdChangesQuery {
  readonly registry: number
  readonly record_type: string
  /** SQL of rows with `was`, the former id, and `is`, the new id, both text. `$1` is the registry, and `$2` the record type. */
  readonly sql: string
}

/**
 * Replaces the record ids of events by the new ids. A numeric id that no record has any more becomes the text "-" and the number,
 * because another record may get that number when records are copied again. The caller holds
 * `lockRegistryFor(..., 'exclusive change')`.
 */
export async function replaceRecordIdsOfEvents(client: Pick<ClientBase, 'query'>, moved: RecordIdChangesQuery): Promise<void> {
  const { record, record_key } = toStoredIdSql('named.id')
  await client.query(
    `with moved as (${moved.sql}), named as (
        select event.id as event, coalesce(moved.is, case when event.record_key is null then '-' || event.record end) as id
        from event left join moved on moved.was = coalesce(event.record_key, event.record::text)
        where event.registry = $1 and event.record_type = $2 and event.purpose <> 'test'
      )
      update event set record = ${record}, record_key = ${record_key} from named
      where event.id = named.event and named.id is not null`,
    [moved.registry, moved.record_type],
  )
}

/** Ends the unfinished backfills of a registry: the places where they stopped are former ids of records. */
export async function cancelSubscriptionBackfills(client: Pick<ClientBase, 'query'>, registry: number): Promise<void> {
  await client.query(
    `update subscription set backfilled = null, backfill_mark = null, backfilled_since = null
     where registry = $1 and backfilled is not null`,
    [registry],
  )
}
