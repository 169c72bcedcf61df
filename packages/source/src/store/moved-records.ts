/** Changes the stored ids of a registry's records when it changes from live records to copies, or back. */

import type { Registry } from '@rollcall/core/model/registry'
import { cancelSubscriptionBackfills, replaceRecordIdsOfEvents } from '@rollcall/delivery/store/events/moved-records'
import { replaceRecordIdsOfPages } from '@rollcall/engine/store/exchanges/moved-records'
import { recordIdsSql } from '@rollcall/records/records/record-tables'
import type { ClientBase } from 'pg'
import { liveIdSql, NO_LIVE_RECORD_ID } from './live-ids.ts'

/** An id that no record in our own tables has. */
const NO_STORED_RECORD_ID = '0'

/**
 * Replaces the ids of records in events and in stored pages of answers: by ids of copies or of live records, as `to` says. The
 * rows of `source_row` say which copy belongs to which row of the source. Ends unfinished backfills of subscriptions. The caller
 * has locked the registry in the transaction, with `lockRegistryFor(..., 'exclusive change')`.
 */
export async function replaceStoredRecordIds(
  client: Pick<ClientBase, 'query'>,
  registry: Pick<Registry, 'id' | 'kind'>,
  to: 'copies' | 'live',
): Promise<void> {
  for (const recordType of registry.kind.record_types) {
    const [copy, live] = ['copy.id', liveIdSql('row.key')]
    const [was, is] = to === 'copies' ? [live, copy] : [copy, live]
    const sql = `select ${was} as was, ${is} as is from source_row as row join ${recordIdsSql(registry, recordType)} as copy using (primary_identifier)
      where row.registry = $1 and row.record_type = $2`
    const moved = { registry: registry.id, record_type: recordType.name, sql }
    await replaceRecordIdsOfEvents(client, moved)
    await replaceRecordIdsOfPages(client, moved, to === 'copies' ? NO_STORED_RECORD_ID : NO_LIVE_RECORD_ID)
  }
  await cancelSubscriptionBackfills(client, registry.id)
}
