/** Finds and locks the persons of an enrolment update, and stores, finds and deletes enrolment ledgers. */

import type { FoundRecord, Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { isTextStorable } from '@rollcall/database/text'
import type { RecordIdentifier, RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { recordTable } from './record-tables.ts'
import { aliasesOf } from './retired-records.ts'

type TypeAndValue = Pick<RecordIdentifier, 'type' | 'value'>

/**
 * Locks the registry for enrolment updates that add persons or identifiers, until the transaction ends. The later of
 * two updates waits, and then sees what the earlier one has added. Take this lock before locks of records.
 */
export async function lockAddedPersons(client: ClientBase, registryId: number): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtext('rollcall enrolment'), $1)", [registryId])
}

/** An identifier, and the record that it names. */
export interface IdentifierWithRecord extends TypeAndValue {
  readonly record: RecordId
}

/** Finds the records that these identifiers name. An identifier of a merged record names the survivor. */
export async function findByIdentifiers(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  identifiers: readonly TypeAndValue[],
): Promise<readonly IdentifierWithRecord[]> {
  const storable = identifiers.filter(({ value }) => isTextStorable(value))
  const { rows } = await client.query<IdentifierWithRecord & { readonly names_record: boolean }>(
    `select type, value, record::text, names_record from ${quoteName(recordTable(registry, recordType).identifierTable)}
     where (type, value) in (select * from unnest($1::text[], $2::text[]))`,
    [storable.map(({ type }) => type), storable.map(({ value }) => value)],
  )
  const others = rows.filter(({ names_record }) => !names_record).map(({ record }) => record)
  const aliases = await aliasesOf(client, registry, recordType, others)
  const isAlias = ({ type, value, record }: IdentifierWithRecord): boolean =>
    aliases.get(record)?.some((one) => one.type === type && one.value === value) ?? false
  return rows.filter((row) => row.names_record || isAlias(row))
}

/** A locked record, with its enrolment ledger. */
export interface RecordWithLedger {
  readonly id: RecordId
  readonly primary_identifier: string
  /** The record as canonical JSON. */
  readonly document: string
  /** The identifiers of records that were merged into this record. */
  readonly aliases: readonly Identifier[]
  /** The stored state of the ledger; null when the person has no ledger. */
  readonly state: string | null
}

/**
 * Locks records until the transaction ends, in the order that all writers use, then reads their ledgers. A second statement reads
 * the ledgers, so that it also sees what another transaction wrote to them while the first statement waited for its locks.
 */
export async function lockLedgers(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  ids: readonly RecordId[],
): Promise<readonly RecordWithLedger[]> {
  if (ids.length === 0) return []
  const { rows } = await client.query<Omit<RecordWithLedger, 'state' | 'aliases'>>(
    `select id::text, primary_identifier, document from ${quoteName(recordTable(registry, recordType).table)} as record
     where id = any($1::bigint[]) order by record.id for no key update`,
    [ids],
  )
  const ledgers = await client.query<{ record: RecordId; state: string }>(
    `select record::text, state from enrolment_ledger
     where registry = $1 and record_type = $2 and record = any($3::bigint[])`,
    [registry.id, recordType.name, rows.map(({ id }) => id)],
  )
  const states = new Map(ledgers.rows.map(({ record, state }) => [record, state]))
  const aliases = await aliasesOf(client, registry, recordType, ids)
  return rows.map((row) => {
    return { ...row, state: states.get(row.id) ?? null, aliases: aliases.get(row.id) ?? [] }
  })
}

/** A ledger to be stored. `next_due` is the time at which the next scheduled status begins; null when none is scheduled. */
export interface NewLedger {
  readonly record: RecordId
  readonly state: string
  readonly next_due: Date | null
}

/** Stores the state of each ledger, and the time of its next scheduled status, in place of the stored ones. */
export async function storeLedgers(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  ledgers: readonly NewLedger[],
): Promise<void> {
  if (ledgers.length === 0) return
  await client.query(
    `insert into enrolment_ledger (registry, record_type, record, state, next_due)
     select $1, $2, * from unnest($3::bigint[], $4::text[], $5::timestamptz[])
     on conflict (registry, record_type, record)
       do update set state = excluded.state, next_due = excluded.next_due`,
    [
      registry.id,
      recordType.name,
      ledgers.map(({ record }) => record),
      ledgers.map(({ state }) => state),
      ledgers.map(({ next_due }) => next_due),
    ],
  )
}

/**
 * Returns the stored ledgers of those given records in which a scheduled enrolment status is due at the time `now`, by record id.
 */
export async function dueLedgers(
  { pool }: Pick<Database, 'pool'>,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly FoundRecord[],
  now: Date,
): Promise<ReadonlyMap<RecordId, string>> {
  const { rows } = await pool.query<{ record: RecordId; state: string }>({
    name: 'due enrolment ledgers',
    text: `select record::text, state from enrolment_ledger
      where registry = $1 and record_type = $2 and record = any($3::bigint[]) and next_due <= $4`,
    values: [registry.id, recordType.name, records.map(({ id }) => id), now],
  })
  return new Map(rows.map(({ record, state }) => [record, state]))
}

/** Records of one type in a registry. Each of them has a scheduled enrolment status that is due. */
export interface RecordsWithDueStatus {
  readonly registry: number
  readonly record_type: string
  readonly records: readonly RecordId[]
}

/** Finds at most `limit` records, of all registries, in which a scheduled enrolment status is due at the time `now`. */
export async function findRecordsWithDueStatus(
  { pool }: Pick<Database, 'pool'>,
  now: Date,
  limit: number,
): Promise<readonly RecordsWithDueStatus[]> {
  const { rows } = await pool.query<RecordsWithDueStatus>(
    `select registry, record_type, array_agg(record::text) as records
     from (select * from enrolment_ledger where next_due <= $1 order by next_due limit $2) as due
     group by registry, record_type`,
    [now, limit],
  )
  return rows
}

export async function deleteLedgers(
  client: ClientBase,
  { registry, record_type }: Pick<RecordsWithDueStatus, 'registry' | 'record_type'>,
  records: readonly RecordId[],
): Promise<void> {
  if (records.length === 0) return
  await client.query('delete from enrolment_ledger where registry = $1 and record_type = $2 and record = any($3::bigint[])', [
    registry,
    record_type,
    records,
  ])
}

/** The time at which the first scheduled status in any registry begins; null when none is scheduled. */
export async function readFirstDueStatusTime({ pool }: Pick<Database, 'pool'>): Promise<Date | null> {
  const { rows } = await pool.query<{ next_due: Date }>({
    name: 'first due enrolment',
    text: 'select next_due from enrolment_ledger where next_due is not null order by next_due limit 1',
  })
  return rows[0]?.next_due ?? null
}
