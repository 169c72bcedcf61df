/**
 * Writes records while persons are protected. The record of a protected person is marked. Another record may name a protected
 * person: the data of that person are left out of its columns and identifier rows, so no search with these data finds it.
 */

import { identifiersNamingRecord } from '@rollcall/core/model/person-identifiers'
import {
  type ProtectedPerson,
  type Protection,
  protectedPersonsOwningRecord,
  protectionKey,
  withoutProtectedPersons,
} from '@rollcall/core/model/protection'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import { isJsonObject, isOfAnother, type JsonValue, kindNamed, type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { writeIdentifiers } from './identifier-rows.ts'
import { columnValues, type PreparedRecord } from './prepare-record.ts'
import { readProtection } from './protection.ts'
import { recordTable, recordTypesWithTables } from './record-tables.ts'
import { aliasesInRetiredRecords, findRecordsMergedInto } from './retired-records.ts'
import { updateRows } from './update-rows.ts'

interface RecordTypeWithProtection {
  readonly registry: RegistryShape
  readonly recordType: RecordType
  /** The protected persons of the registry, as the writer read them in its transaction. */
  readonly protection: Protection
}

/**
 * Removes data of protected persons from the columns and identifiers of records, unless the record is that person's own. The
 * documents stay whole.
 */
export function removeProtectedPersonData(
  { registry, recordType, protection }: RecordTypeWithProtection,
  records: readonly PreparedRecord[],
): readonly PreparedRecord[] {
  if (protection.byIdentifier.size === 0) return records
  return records.map((record) => {
    const read: JsonValue = JSON.parse(record.document)
    if (!isJsonObject(read)) return record
    const { document } = withoutProtectedPersons(registry.kind, recordType, protection, read)
    if (document === read) return record
    const identifiers = readIdentifiers(registry.kind, recordType, document)
    return { ...record, identifiers, columns: columnValues(recordType, document, identifiers) }
  })
}

/** A record, with the protected persons to whom it belongs (`own`) and those whom it names (`named`). */
interface RecordWithProtectedPersons {
  readonly id: RecordId
  readonly own: readonly ProtectedPerson[]
  readonly identifiers: readonly Identifier[]
  readonly named: readonly number[]
}

/**
 * Marks the written records of protected persons, and stores which of the written records name protected persons. New identifiers
 * of a protected person become protected too (`storeProtectedRecords`). Then the columns and identifier rows of all records that
 * name the person by these new identifiers are written again.
 */
export async function storeProtectionMarks<Written extends Pick<PreparedRecord, 'document'>>(
  client: ClientBase,
  writing: RecordTypeWithProtection,
  records: readonly Written[],
  idOf: (record: Written) => RecordId,
): Promise<void> {
  const { registry, recordType, protection } = writing
  if (protection.byProtectingIdentifier.size === 0) return
  const noted = records.map((record): RecordWithProtectedPersons => {
    const document: JsonValue = JSON.parse(record.document)
    const own = protectedPersonsOwningRecord(registry.kind, recordType, protection, document)
    const read = readIdentifiers(registry.kind, recordType, document)
    return {
      id: idOf(record),
      own,
      identifiers: read.filter(({ names }) => names === 'record'),
      named: isJsonObject(document) ? withoutProtectedPersons(registry.kind, recordType, protection, document).persons : [],
    }
  })
  await storePersonsNamedInRecords(client, writing, noted)
  const own = noted.filter((one) => one.own.length > 0)
  if (own.length === 0) return
  const newIdentifiers = await storeProtectedRecords(client, registry, recordType, own)
  if (newIdentifiers.length > 0) {
    await bumpProtectionVersion(client, registry.id)
    await rewriteRecordsNamingPersons(client, registry, { persons: [], identifiers: newIdentifiers })
  }
}

/** Stores which protected persons these records name. */
export async function storePersonsNamedInRecords(
  client: ClientBase,
  { registry, recordType }: Pick<RecordTypeWithProtection, 'registry' | 'recordType'>,
  noted: readonly Pick<RecordWithProtectedPersons, 'id' | 'named'>[],
): Promise<void> {
  await client.query(`delete from protected_reference where registry = $1 and record_type = $2 and record = any($3::bigint[])`, [
    registry.id,
    recordType.name,
    noted.map(({ id }) => id),
  ])
  const rows = noted.flatMap(({ id, named }) => named.map((person) => ({ id, person })))
  if (rows.length === 0) return
  await client.query(
    `insert into protected_reference (registry, record_type, record, person)
     select $1, $2, * from unnest($3::bigint[], $4::int[]) on conflict do nothing`,
    [registry.id, recordType.name, rows.map(({ id }) => id), rows.map(({ person }) => person)],
  )
}

/**
 * Marks records, and the records that were merged into them, as those of protected persons. A record in a source outside gets no
 * mark: searches compare its identifiers with the stored ones. Also stores the identifiers of these persons: the primary one, and
 * the others, except those that another record has too, or whose type is the primary one of another record type, such as that of
 * households.
 * @param records if they are in a source outside, their `identifiers` must be only those that no other record has
 * @returns the identifiers that are new for these persons, or that begin to protect records
 */
export async function storeProtectedRecords(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly Pick<RecordWithProtectedPersons, 'id' | 'own' | 'identifiers'>[],
): Promise<readonly Identifier[]> {
  const { name } = recordType
  const marked = registry.own_records === false ? [] : records
  const ids = marked.map(({ id }) => id)
  const retired = await findRecordsMergedInto(client, registry, recordType, ids)
  const aliases = aliasesInRetiredRecords(registry.kind, recordType, retired)
  const merged = Map.groupBy(retired, ({ survivor }) => survivor)
  const marks = marked.flatMap(({ id, own }) =>
    [id, ...(merged.get(id) ?? []).map(({ record }) => record)].flatMap((each) => own.map((person) => ({ id: each, person }))),
  )
  await client.query(
    `insert into protected_record (registry, record_type, record, person, category)
     select $1, $2, * from unnest($3::bigint[], $4::int[], $5::text[]) on conflict do nothing`,
    [
      ...[registry.id, name, marks.map(({ id }) => id)],
      ...[marks.map(({ person }) => person.id), marks.map(({ person }) => person.category)],
    ],
  )
  const withAliases = records.map(({ identifiers, ...one }) => ({
    ...one,
    identifiers: [...identifiers, ...(aliases.get(one.id) ?? [])],
  }))
  const isShared = await makeSharedIdentifierTest(client, registry, recordType, withAliases)
  const rows = withAliases.flatMap(({ own, identifiers }) =>
    identifiers.flatMap(({ type, value }) => {
      const protects = type === recordType.primary_identifier
      if (!protects && (isOfAnother(registry.kind, recordType, type) || isShared({ type, value }))) return []
      return own.map(({ id: person }) => ({ type, value, person, protects }))
    }),
  )
  return insertProtectedIdentifiers(client, registry.id, rows)
}

export interface ProtectedIdentifier extends Identifier {
  readonly person: number
  /** True when every record that has this identifier as its own is protected. */
  readonly protects: boolean
}

/** Stores identifiers of protected persons. Returns those that are new, or that begin to protect records. */
export async function insertProtectedIdentifiers(
  client: ClientBase,
  registryId: number,
  identifiers: readonly ProtectedIdentifier[],
): Promise<readonly Identifier[]> {
  const { rows } = await client.query<Identifier>(
    `insert into protected_identifier as known (registry, type, value, person, protects)
     select $1, type, value, person, bool_or(protects)
     from unnest($2::text[], $3::text[], $4::int[], $5::boolean[]) as own (type, value, person, protects)
     group by type, value, person
     on conflict (registry, type, value, person) do update set protects = true
       where excluded.protects and not known.protects
     returning type, value`,
    [
      ...[registryId, identifiers.map(({ type }) => type), identifiers.map(({ value }) => value)],
      ...[identifiers.map(({ person }) => person), identifiers.map(({ protects }) => protects)],
    ],
  )
  return rows
}

/** Returns a function that is true for identifiers that other records of the registry have as their own too. */
async function makeSharedIdentifierTest(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly Pick<RecordWithProtectedPersons, 'id' | 'identifiers'>[],
): Promise<(identifier: Identifier) => boolean> {
  const own = records.flatMap(({ id, identifiers }) => identifiers.map((one) => ({ ...one, id })))
  const shared = new Set<string>()
  for (const one of recordTypesWithTables(registry)) {
    const { identifierTable } = recordTable(registry, one)
    const { rows } = await client.query<Identifier>(
      `select distinct type, value from ${quoteName(identifierTable)} as other
         join unnest($1::text[], $2::text[], $3::bigint[]) as own (type, value, record) using (type, value)
       where other.names_record and (not $4 or other.record <> own.record)`,
      [...[own.map(({ type }) => type), own.map(({ value }) => value), own.map(({ id }) => id)], one.name === recordType.name],
    )
    for (const row of rows) shared.add(protectionKey(row))
  }
  return (identifier) => shared.has(protectionKey(identifier))
}

/** Protects both records of a merge alike: each by the categories and identifiers of both. */
export async function protectMergedRecords(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  { survivor, retired }: { readonly survivor: RecordId; readonly retired: RecordId },
): Promise<void> {
  const { rows: own } = await client.query<ProtectedPerson>(
    `select distinct person as id, category from protected_record
     where registry = $1 and record_type = $2 and record = any($3::bigint[])`,
    [registry.id, recordType.name, [survivor, retired]],
  )
  if (own.length === 0) return
  const { rows } = await client.query<{ document: string }>(
    `select document from ${quoteName(recordTable(registry, recordType).table)} where id = $1`,
    [survivor],
  )
  const identifiers = rows.flatMap(({ document }) => identifiersNamingRecord(registry.kind, recordType, JSON.parse(document)))
  const added = await storeProtectedRecords(client, registry, recordType, [{ id: survivor, own, identifiers }])
  if (added.length === 0) return
  await bumpProtectionVersion(client, registry.id)
  await rewriteRecordsNamingPersons(client, registry, { persons: [], identifiers: added })
}

/** Gives the protection of the registry a new version. Every node uses the new protection within half a second of the commit. */
export async function bumpProtectionVersion(client: Pick<ClientBase, 'query'>, registryId: number): Promise<void> {
  await client.query(`update registry set protection_version = nextval('protection_version') where id = $1`, [registryId])
}

/**
 * The records to find: those that are stored as naming one of these persons, and those in which a part has one of the
 * identifiers. Both are given when a person is newly protected, only `persons` when a protection ends, otherwise `identifiers`.
 */
interface RecordsNamingPersonsQuery {
  readonly persons: readonly number[]
  readonly identifiers: readonly Identifier[]
}

/** The most records that one statement reads. */
const REWRITE_BATCH_RECORDS = 500

/**
 * Writes again, by the current protection, the columns and identifiers of records that may name these persons. Records
 * are locked in the order of their ids, as a backfill does. Returns the number of records that were written.
 */
export async function rewriteRecordsNamingPersons(
  client: ClientBase,
  registry: RegistryShape,
  naming: RecordsNamingPersonsQuery,
): Promise<number> {
  const protection = await readProtection(client, registry.id)
  let count = 0
  for (const recordType of recordTypesWithTables(registry)) {
    const ids = await findRecordsNamingPersons(client, registry, recordType, naming)
    for (let at = 0; at < ids.length; at += REWRITE_BATCH_RECORDS) {
      count += await rewriteRecords(client, { registry, recordType, protection }, ids.slice(at, at + REWRITE_BATCH_RECORDS))
    }
  }
  return count
}

async function findRecordsNamingPersons(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  { persons, identifiers }: RecordsNamingPersonsQuery,
): Promise<readonly RecordId[]> {
  const { table, identifierTable } = recordTable(registry, recordType)
  const { rows } = await client.query<{ id: number }>(
    `select record as id from protected_reference
       where registry = $1 and record_type = $2 and person = any($3::int[])
     union
     select record from ${quoteName(identifierTable)}
       where (type, value) in (select * from unnest($4::text[], $5::text[])) and not names_record
     union
     select id from ${quoteName(table)}
     where $6 and ${lettersAndDigitsSql('document')} like any (
       array(select '%' || ${lettersAndDigitsSql('value')} || '%' from unnest($5::text[]) as named (value)))
     order by id`,
    [
      ...[registry.id, recordType.name, persons],
      ...[identifiers.map(({ type }) => type), identifiers.map(({ value }) => value)],
      identifiers.length > 0 && isDocumentTextSearched(registry, recordType, persons.length > 0),
    ],
  )
  return rows.map(({ id }) => String(id))
}

/**
 * True when the text of all documents must be searched: then the columns of a record may have data of a person whose identifiers
 * are not in the record's identifier rows. This is so when an operator added attributes, because they may read any member. When a
 * person is newly protected, this is also so if a compound or a count reads the persons of a relation. In other calls the writer
 * of one record waits, and the search takes long, so relations are no reason.
 */
function isDocumentTextSearched({ kind }: RegistryShape, recordType: RecordType, isNewlyProtected: boolean): boolean {
  const own = kindNamed(kind.name)?.record_types.find(({ name }) => name === recordType.name)
  const { attributes, compounds = [], relations = [] } = recordType
  if (own?.attributes.length !== attributes.length) return true
  const read = compounds.flatMap(({ paths }) => paths)
  return (
    isNewlyProtected && relations.some((one) => one.counted_by !== undefined || one.paths.some((path) => read.includes(path)))
  )
}

/**
 * SQL that keeps only the ASCII letters and digits of a text. If a document has an identifier in any spelling, the letters and
 * digits of the identifier occur among those of the document. Other documents may match too; they are read and checked.
 */
const lettersAndDigitsSql = (text: string): string =>
  `regexp_replace(lower(normalize(replace(replace(${text}, 'ß', 'ss'), 'ı', 'i'), NFKD) collate "C"), '[^a-z0-9]+', '', 'g')`

async function rewriteRecords(client: ClientBase, writing: RecordTypeWithProtection, ids: readonly RecordId[]): Promise<number> {
  const { registry, recordType, protection } = writing
  const { table, columns } = recordTable(registry, recordType)
  const { rows } = await client.query<{ id: RecordId; document: string }>(
    `select id::text, document from ${quoteName(table)} as record
     where id = any($1::bigint[]) order by record.id for no key update`,
    [ids],
  )
  const noted = rows.flatMap(({ id, document: text }) => {
    const read: JsonValue = JSON.parse(text)
    if (!isJsonObject(read)) return []
    const { document, persons } = withoutProtectedPersons(registry.kind, recordType, protection, read)
    return [{ id, text, document, named: persons }]
  })
  const values = noted.map(({ id, document }) => {
    const read = columnValues(recordType, document, readIdentifiers(registry.kind, recordType, document))
    return { id, ...Object.fromEntries(columns.map(({ name }, at) => [name, read[at] ?? null])) }
  })
  if (columns.length > 0 && values.length > 0) await updateRows(client, table, columns, values)
  await writeIdentifiers(client, registry, recordType, rows)
  await storePersonsNamedInRecords(client, writing, noted)
  return noted.length
}
