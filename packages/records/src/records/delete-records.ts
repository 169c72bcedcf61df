/** Deletes records, and leaves a tombstone of each. */
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import { isStorable } from '@rollcall/database/text'
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { recordTable } from './record-tables.ts'
import { aliasesIn } from './retired-records.ts'

/** A record that was deleted. */
export interface DeletedRecord {
  readonly id: RecordId
  readonly document: string
  /** Identifiers of records that had been merged into it. */
  readonly aliases: readonly Identifier[]
}

/**
 * Deletes records of one type with all their identifiers and with the records that were merged into them, and leaves a
 * tombstone of each. A record that is written again later is a new one. Missing records are passed over.
 * Runs inside the caller's transaction.
 * @param primaryIdentifiers normalised by the rule of their type
 */
export async function deleteRecords(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  primaryIdentifiers: readonly string[],
): Promise<readonly DeletedRecord[]> {
  const { table } = recordTable(registry, recordType)
  // They are locked in the same order as by a writer, so that the two do not deadlock.
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
     ), ledgers as (
       delete from enrolment_ledger where registry = $1::int and record_type = $2 and record in (select id from doomed)
     )
     select id::text, document, array(select merged.document from merged where survivor = deleted.id) as retired
     from deleted order by deleted.id`,
    [registry.id, recordType.name, primaryIdentifiers.filter(isStorable)],
  )
  return rows.map(({ id, document, retired }) => {
    const merged = retired.map((one) => ({ survivor: id, document: one }))
    return { id, document, aliases: aliasesIn(registry.kind, recordType, merged).get(id) ?? [] }
  })
}
