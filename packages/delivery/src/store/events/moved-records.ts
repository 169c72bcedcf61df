/** Events of records that have other ids from now on, because their registry reads them in another way. */

import { storedIdOf } from '@rollcall/database/record-ids'
import type { ClientBase } from 'pg'

/** Records of one type with their former ids and their new ones. */
export interface MovedRecords {
  readonly registry: number
  readonly record_type: string
  /** SQL of rows with `was` and `is`, texts. In it `$1` is the registry, and `$2` the record type. */
  readonly sql: string
}

/**
 * Names the records of events by their new ids. A number that no record has becomes the id of no record: numbers are given
 * anew when the records are copied again. The caller holds `lockEvents(..., 'merge')`.
 */
export async function moveEvents(client: Pick<ClientBase, 'query'>, moved: MovedRecords): Promise<void> {
  const { record, record_key } = storedIdOf('named.id')
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

/** Ends the backfills of a registry that are under way: their places are ids that its records do not have any more. */
export async function endBackfills(client: Pick<ClientBase, 'query'>, registry: number): Promise<void> {
  await client.query(
    `update subscription set backfilled = null, backfill_mark = null, backfilled_since = null
     where registry = $1 and backfilled is not null`,
    [registry],
  )
}
