/** Deletes records, and stores a trace of each deleted record: its id and its primary identifier. */
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import { isTextStorable } from '@rollcall/database/text'
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { recordTable } from './record-tables.ts'
import { aliasesInRetiredRecords } from './retired-records.ts'

export interface DeletedRecord {
  readonly id: RecordId
  readonly document: string
  /** The identifiers of records that were merged into the deleted record. */
  readonly aliases: readonly Identifier[]
}

/**
 * Deletes records of one type with their identifiers, their enrolment ledgers and the records that were merged into them. Stores
 * a trace of each deleted or merged record. A deleted record that is written again later is a new record. A record that does not
 * exist is skipped. Runs in the caller's transaction.
 * @param primaryIdentifiers normalised
 */
export async function deleteRecords(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  primaryIdentifiers: readonly string[],
): Promise<readonly DeletedRecord[]> {
  const { table } = recordTable(registry, recordType)
  // Rows are locked in the order that writers use, so that a deletion and a writer do not deadlock.
  const { rows } = await client.query<{ id: RecordId; document: string; retired: string[] }>(
    `with doomed as materialized (
       select id from ${quoteName(table)} where primary_identifier = any($3::text[]) order by id for update
     ), deleted as (
       delete from ${quoteName(table)} where id in (select id from doomed)
       returning id, primary_identifier, document
     ), merged as (
       delete from retired_record
       where registry = $1::int and record_type = $2 and survivor in (select id from doomed)
       returning record, primary_identifier, document, survivor
     ), tombstones as (
       insert into record_tombstone (registry, record_type, record, primary_identifier)
       select $1::int, $2, id, primary_identifier from deleted
       union all select $1::int, $2, record, primary_identifier from merged
       -- A trace may be that of a former copy, whose id is given again.
       on conflict (registry, record_type, record) do update
         set primary_identifier = excluded.primary_identifier, deleted_at = excluded.deleted_at
     ), ledgers as (
       delete from enrolment_ledger where registry = $1::int and record_type = $2 and record in (select id from doomed)
     )
     select id::text, document, array(select merged.document from merged where survivor = deleted.id) as retired
     from deleted order by deleted.id`,
    [registry.id, recordType.name, primaryIdentifiers.filter(isTextStorable)],
  )
  return rows.map(({ id, document, retired }) => {
    const merged = retired.map((one) => ({ survivor: id, document: one }))
    return { id, document, aliases: aliasesInRetiredRecords(registry.kind, recordType, merged).get(id) ?? [] }
  })
}
