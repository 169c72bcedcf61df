/** Deleting records: what stays is that there was one, under which primary identifier, and when it went. */

import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import type { RegistryShape } from '../../model/registry.ts'
import { quoteName } from '../db/names.ts'
import { isStorable } from '../db/text.ts'
import { recordTable } from './record-tables.ts'

/**
 * Deletes records of one type with all their identifiers, and leaves a tombstone of each. A record that is written
 * again later is a new one. Those that are not there are passed over.
 *
 * Runs inside the caller's transaction.
 * @param primaryIdentifiers as the normaliser of their type leaves them
 * @returns how many were deleted
 */
export async function deleteRecords(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  primaryIdentifiers: readonly string[],
): Promise<number> {
  const { table } = recordTable(registry, recordType)
  // Locked in the order in which a writer locks them, so that the two do not deadlock.
  const { rowCount } = await client.query(
    `with doomed as materialized (
       select id from ${quoteName(table)} where primary_identifier = any($3::text[]) order by id for update
     ), deleted as (
       delete from ${quoteName(table)} where id in (select id from doomed) returning id, primary_identifier
     )
     insert into record_tombstone (registry, record_type, record, primary_identifier)
     select $1::int, $2, id, primary_identifier from deleted`,
    [registry.id, recordType.name, primaryIdentifiers.filter(isStorable)],
  )
  return rowCount ?? 0
}
