/** Changes the record ids of answers' further pages, when their registry begins to read its records in another way. */

import type { RecordIdChangesQuery } from '@rollcall/delivery/store/events/moved-records'
import type { ClientBase } from 'pg'

/**
 * Replaces the record ids that are stored for further pages, after the registry began to copy its records or to read them live:
 * each id by the new id of the same record, and the id of a record that is gone by `nobody`.
 * @param nobody an id that no record has, in the form of the new ids
 */
export async function replaceRecordIdsOfPages(
  client: Pick<ClientBase, 'query'>,
  moved: RecordIdChangesQuery,
  nobody: string,
): Promise<void> {
  const isNumber = /^\d+$/.test(nobody)
  await client.query(
    `with moved as (${moved.sql}), named as (
        select item.correlation_id, item.position, array_agg(coalesce(moved.is, $3) order by kept.at) as ids
        from exchange_item as item join accepted_exchange as exchange using (correlation_id)
          cross join lateral unnest(coalesce(item.record_keys, item.record_ids::text[])) with ordinality as kept (id, at)
          left join moved on moved.was = kept.id
        where exchange.registry = $1 and item.record_type = $2 and item.record_ids is not null
        group by item.correlation_id, item.position
      )
      update exchange_item as item set record_ids = ${isNumber ? 'named.ids::bigint[]' : "'{}'"},
        record_keys = ${isNumber ? 'null' : 'named.ids'}
      from named where item.correlation_id = named.correlation_id and item.position = named.position`,
    [moved.registry, moved.record_type, nobody],
  )
}
