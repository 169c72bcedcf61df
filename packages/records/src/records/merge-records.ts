/** Merges one record into another, and undoes a merge. The caller holds `lockRegistryFor(..., 'exclusive change')`. */

import { identifiersNamingRecord } from '@rollcall/core/model/person-identifiers'
import { withoutProtectedPersons } from '@rollcall/core/model/protection'
import type { FoundRecord, Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { copyRows } from '@rollcall/database/copy'
import { quoteName } from '@rollcall/database/names'
import { isTextStorable } from '@rollcall/database/text'
import type { JsonObject, RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { writeIdentifiers } from './identifier-rows.ts'
import { type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { protectMergedRecords, storePersonsNamedInRecords } from './protected-records.ts'
import { readProtection } from './protection.ts'
import { recordTable } from './record-tables.ts'
import { recordRows } from './record-writer.ts'
import { findRecordsMergedInto, type RetiredRecord } from './retired-records.ts'

/** The records that an identifier names: `live` records, and `retired` records, which were merged into others. */
export interface FoundAndRetiredRecords {
  readonly live: readonly FoundRecord[]
  readonly retired: readonly RetiredRecord[]
}

/**
 * Finds the live and the retired records that have an identifier as their own, ordered by id. A record in which only
 * a part has the identifier, such as a household's member, is not found.
 */
export async function findRecordsWithIdentifier(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  { type, value }: Identifier,
): Promise<FoundAndRetiredRecords> {
  if (!isTextStorable(value)) return { live: [], retired: [] }
  const { table, identifierTable } = recordTable(registry, recordType)
  const { rows } = await client.query<FoundRecord & { readonly own: boolean }>(
    `select record.id::text, document, names_record as own
     from ${quoteName(identifierTable)} as identifier join ${quoteName(table)} as record on record.id = identifier.record
     where type = $1 and value = $2 order by record.id`,
    [type, value],
  )
  const found = await findRecordsMergedInto(
    client,
    registry,
    recordType,
    rows.map(({ id }) => id),
  )
  const retired = found.filter(({ document }) =>
    identifiersNamingRecord(registry.kind, recordType, JSON.parse(document)).some(
      (one) => one.type === type && one.value === value,
    ),
  )
  return { live: rows.filter(({ own }) => own), retired }
}

/** The merge of one record into another, with its event. */
export interface RecordMerge {
  readonly survivor: RecordId
  readonly retired: RecordId
  /** The id of the event that reports the merge. */
  readonly event: number
  readonly now: Date
}

/** Moves the retired record and its ledger to `retired_record`. Its identifiers and aliases then find the survivor. */
export async function retireRecord(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  { survivor, retired, event, now }: RecordMerge,
): Promise<void> {
  const which = [registry.id, recordType.name, retired, survivor]
  // A backfill locks records in the same order, so that it and the merge do not deadlock.
  await client.query(
    `select id from ${quoteName(recordTable(registry, recordType).table)}
     where id = any($1::bigint[]) order by id for update`,
    [[retired, survivor]],
  )
  await client.query(`update retired_record set survivor = $4 where registry = $1 and record_type = $2 and survivor = $3`, which)
  await client.query(
    `with gone as (
       delete from ${quoteName(recordTable(registry, recordType).table)} where id = $3
       returning id, primary_identifier, document, created_at
     ), ledger as (
       delete from enrolment_ledger where registry = $1 and record_type = $2 and record = $3
       returning state, next_due
     )
     insert into retired_record (registry, record_type, record, primary_identifier, document, created_at, merged_into,
       survivor, merged_at, event, ledger, ledger_due)
     select $1, $2, id, primary_identifier, document, created_at, $4, $4, $5, $6, state, next_due
     from gone left join ledger on true`,
    [...which, now, event],
  )
  await protectMergedRecords(client, registry, recordType, { survivor, retired })
  await rewriteIdentifierRows(client, registry, recordType, [survivor])
}

/**
 * Undoes a merge: the retired record gets its old id, its identifiers, and the records that had been merged into it
 * before. The survivor keeps what was written to it since the merge.
 * @throws InvalidRecord the document can no longer be read as a record of this type
 */
export async function restoreRecord(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  { record: id, document: text, survivor }: RetiredRecord,
): Promise<void> {
  const { table, columns } = recordTable(registry, recordType)
  const which = [registry.id, recordType.name, id]
  const protection = await readProtection(client, registry.id)
  const read: JsonObject = JSON.parse(text)
  const { document, persons } = withoutProtectedPersons(registry.kind, recordType, protection, read)
  const { columns: values }: PreparedRecord = prepareRecord(registry.kind, recordType, document)
  const whole: PreparedRecord = prepareRecord(registry.kind, recordType, read)
  const prepared: PreparedRecord = { ...whole, columns: values }
  const names = ['id', 'primary_identifier', 'document', ...columns.map(({ name }) => name)]
  const ids = new Map([[prepared.primary_identifier, id]])
  await copyRows(client, table, names, recordRows([prepared], ids))
  // Stores which protected persons the record names. When such a protection ends, `unprotectPerson` finds the record by these
  // rows of `protected_reference`, and writes its columns and identifiers again.
  await storePersonsNamedInRecords(client, { registry, recordType }, [{ id, named: persons }])
  await client.query(
    `update ${quoteName(table)} as record set created_at = retired_record.created_at from retired_record
     where registry = $1 and record_type = $2 and retired_record.record = $3 and record.id = $3`,
    which,
  )
  await client.query(
    `insert into enrolment_ledger (registry, record_type, record, state, next_due)
     select registry, record_type, record, ledger, ledger_due from retired_record
     where registry = $1 and record_type = $2 and record = $3 and ledger is not null`,
    which,
  )
  await client.query(
    `with recursive merged as (
       select record from retired_record where registry = $1 and record_type = $2 and merged_into = $3
       union
       select retired_record.record from retired_record join merged on retired_record.merged_into = merged.record
       where registry = $1 and record_type = $2
     )
     update retired_record set survivor = $3
     where registry = $1 and record_type = $2 and record in (select record from merged)`,
    which,
  )
  await client.query('delete from retired_record where registry = $1 and record_type = $2 and record = $3', which)
  await rewriteIdentifierRows(client, registry, recordType, [id, survivor])
}

/**
 * Writes the identifier rows of records again. The records are locked in the order of their ids, as a backfill does, so
 * that the two do not deadlock.
 */
async function rewriteIdentifierRows(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  ids: readonly RecordId[],
): Promise<void> {
  const { rows } = await client.query<FoundRecord>(
    `select id::text, document from ${quoteName(recordTable(registry, recordType).table)} as record
     where id = any($1::bigint[]) order by record.id for no key update`,
    [ids],
  )
  await writeIdentifiers(client, registry, recordType, rows)
}
