/** Writes records in batches: new records by COPY, existing ones by one UPDATE. */

import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { copyRows, toCopyField } from '@rollcall/database/copy'
import { isWriteConflict } from '@rollcall/database/database-errors'
import { quoteName } from '@rollcall/database/names'
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { recordIdentifiersAndAliases } from './identifier-rows.ts'
import type { PreparedRecord } from './prepare-record.ts'
import { removeProtectedPersonData, storeProtectionMarks } from './protected-records.ts'
import { readProtection } from './protection.ts'
import { type RecordTable, recordTable } from './record-tables.ts'
import { type AliasesBySurvivor, aliasesOf, findSurvivors } from './retired-records.ts'
import { updateRows } from './update-rows.ts'

/** The most tries to write one batch while other writers change the same records. */
const MOST_WRITE_ATTEMPTS = 8

export interface WrittenRecord {
  readonly id: RecordId
  readonly primary_identifier: string
  /** The replaced document, if `WriteOptions.before` asked for it and the caller had not locked the record. */
  readonly before?: string
  /**
   * Identifiers of records that were merged into this record. Absent when there are none; also absent for the records in
   * `sameIdentifiers`, for which they are not read.
   */
  readonly aliases?: readonly Identifier[]
}

/**
 * The import that writes. Records store the run and the line that wrote them, so an import that goes on after an
 * interruption recognises its own records.
 */
export interface ImportRunAndLines {
  /** The id of the import run, as in `Progress.run`. */
  readonly run: string
  /** For each written record, by its primary identifier, the number of its line in the imported file. */
  readonly lines: ReadonlyMap<string, number>
  /** True: records that this run has written before stay as they are. False: they are replaced. */
  readonly keep: boolean
}

/** The options of `writeRecords`. */
export interface WriteOptions {
  /** The run and the lines of an import; absent when the records do not come from a file. */
  readonly imported?: ImportRunAndLines
  /** True when the replaced documents are read and returned. */
  readonly before?: boolean
  /**
   * The ids of records that the transaction has locked already, by primary identifier: the call does not look them up. All of
   * them must be among the given records. If there are no others, the call makes no savepoint: no other writer can interfere.
   */
  readonly locked?: ReadonlyMap<string, RecordId>
  /** The primary identifiers of locked records that keep all their identifiers. Their aliases are not read. */
  readonly sameIdentifiers?: ReadonlySet<string>
}

export interface WriteResult {
  readonly inserted: readonly WrittenRecord[]
  /** The records that were replaced, including those whose document did not change. */
  readonly updated: readonly WrittenRecord[]
  /**
   * Records that were not written because they were merged into others: the primary identifier of each, with that of
   * the survivor. Absent when there are none.
   */
  readonly retired?: ReadonlyMap<string, string>
  /**
   * For each given record that this import run wrote in an earlier call, by primary identifier, the number of the line that wrote
   * the record.
   */
  readonly repeated: ReadonlyMap<string, number>
}

/**
 * Writes records of one type: each is new, or replaces the record with its primary identifier. If a primary identifier occurs
 * more than once, the last record is written. A record that was merged into another is not written (`WriteResult.retired`). Runs
 * inside the caller's READ COMMITTED transaction, behind a savepoint (not always: see `WriteOptions.locked`): when the call
 * throws, nothing of the batch is written, and the transaction can go on. When another writer changes the same records, the call
 * waits, and tries the batch again, `MOST_WRITE_ATTEMPTS` times in all.
 * @throws pg's DatabaseError, such as one of class 22 or 54 for a value that PostgreSQL cannot store
 */
export async function writeRecords(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly PreparedRecord[],
  options: WriteOptions = {},
): Promise<WriteResult> {
  const latest = new Map(records.map((record) => [record.primary_identifier, record]))
  if (latest.size === 0) return { inserted: [], updated: [], repeated: new Map() }
  if (options.locked !== undefined && latest.size === options.locked.size) {
    return writeInOneAttempt(client, registry, recordType, latest, options)
  }
  for (let attempt = 1; ; attempt += 1) {
    await client.query('savepoint write_records')
    try {
      const written = await writeInOneAttempt(client, registry, recordType, latest, options)
      await client.query('release savepoint write_records')
      return written
    } catch (error) {
      // If the rollback fails too, the connection is lost. The first error says why.
      await client.query('rollback to savepoint write_records').catch(() => undefined)
      if (attempt === MOST_WRITE_ATTEMPTS || !isWriteConflict(error)) throw error
    }
  }
}

async function writeInOneAttempt(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  records: ReadonlyMap<string, PreparedRecord>,
  options: WriteOptions,
): Promise<WriteResult> {
  const table = recordTable(registry, recordType)
  const { locked = new Map<string, RecordId>(), sameIdentifiers = new Set(), imported } = options
  const unlocked = [...records.keys()].filter((primary) => !locked.has(primary))
  const existing = await lockExistingRecords(client, table, unlocked, options)
  const ids = new Map([
    ...[...locked].map(([primary, id]) => [primary, id] as const),
    ...[...existing].map(([primary, { id }]) => [primary, id] as const),
  ])
  const repeated = new Map<string, number>()
  for (const [primary, { line }] of existing) if (line) repeated.set(primary, Number(line))
  const isKept = (primary: string): boolean => imported?.keep === true && repeated.has(primary)
  const unknown = unlocked.filter((primary) => !ids.has(primary))
  const retired = await findSurvivors(client, registry, recordType, unknown)
  const protection = await readProtection(client, registry.id)
  const wanted = removeProtectedPersonData(
    { registry, recordType, protection },
    [...records.values()].filter(({ primary_identifier }) => !retired.has(primary_identifier) && !isKept(primary_identifier)),
  )
  const added = wanted.filter((record) => !ids.has(record.primary_identifier))
  const replaced = wanted.filter((record) => ids.has(record.primary_identifier))
  const named = wanted.filter(({ primary_identifier }) => !sameIdentifiers.has(primary_identifier))
  const renamed = named.flatMap(({ primary_identifier }) => ids.get(primary_identifier) ?? [])
  const aliases = await aliasesOf(client, registry, recordType, renamed)
  if (replaced.length > 0) await updateRecords(client, table, replaced, ids, imported)
  await deleteIdentifiers(client, table, renamed)
  if (added.length > 0) await insertRecords(client, table, added, ids, imported)
  if (named.length > 0) {
    const identifiers = identifierRows(named, ids, aliases)
    await copyRows(client, table.identifierTable, ['type', 'value', 'record', 'names_record'], identifiers)
  }
  const idOf = ({ primary_identifier }: PreparedRecord): RecordId => ids.get(primary_identifier) ?? ''
  await storeProtectionMarks(client, { registry, recordType, protection }, wanted, idOf)
  const writtenRecordOf = ({ primary_identifier }: PreparedRecord): WrittenRecord => {
    const before = existing.get(primary_identifier)?.document
    const id = ids.get(primary_identifier) ?? ''
    const others = aliases.get(id)
    return { id, primary_identifier, ...(before !== undefined && { before }), ...(others && { aliases: others }) }
  }
  return {
    inserted: added.map(writtenRecordOf),
    updated: replaced.map(writtenRecordOf),
    repeated,
    ...(retired.size > 0 && { retired }),
  }
}

interface ExistingRecord {
  readonly id: string
  readonly document?: string
  /** The line of the current import that wrote the record; null when this import has not written it. */
  readonly line?: string | null
}

/** Reads stored records, and locks them in the order of their ids, so that two writers do not deadlock. */
async function lockExistingRecords(
  client: ClientBase,
  { table }: RecordTable,
  primaries: readonly string[],
  { before, imported }: WriteOptions,
): Promise<Map<string, ExistingRecord>> {
  if (primaries.length === 0) return new Map()
  const { rows } = await client.query<ExistingRecord & { primary_identifier: string }>(
    `select id::text, primary_identifier${before ? ', document' : ''}
       ${imported ? ', case when import_run = $2::bigint then import_line::text end as line' : ''}
     from ${quoteName(table)} where primary_identifier = any($1) order by ${quoteName(table)}.id for no key update`,
    [primaries, ...(imported ? [imported.run] : [])],
  )
  return new Map(rows.map((row) => [row.primary_identifier, row]))
}

export interface LockedRecord {
  readonly id: RecordId
  /** The primary identifier of the record; that of the survivor when a merged record was asked for. */
  readonly primary_identifier: string
  readonly document: string
  /** The identifiers of records that were merged into this record. */
  readonly aliases: readonly Identifier[]
}

/**
 * Locks the record with this primary identifier until the transaction ends. For a merged record, locks the survivor.
 * Null when there is no such record.
 */
export async function lockRecord(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  primaryIdentifier: string,
): Promise<LockedRecord | null> {
  const table = recordTable(registry, recordType)
  const lock = async (primary_identifier: string): Promise<LockedRecord | null> => {
    const found = await lockExistingRecords(client, table, [primary_identifier], { before: true })
    const { id, document = '' } = found.get(primary_identifier) ?? {}
    if (id === undefined) return null
    const aliases = await aliasesOf(client, registry, recordType, [id])
    return { id, primary_identifier, document, aliases: aliases.get(id) ?? [] }
  }
  const found = await lock(primaryIdentifier)
  if (found !== null) return found
  const survivors = await findSurvivors(client, registry, recordType, [primaryIdentifier])
  const survivor = survivors.get(primaryIdentifier)
  return survivor === undefined ? null : lock(survivor)
}

async function insertRecords(
  client: ClientBase,
  { table, columns }: RecordTable,
  records: readonly PreparedRecord[],
  ids: Map<string, string>,
  imported: ImportRunAndLines | undefined,
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select nextval(pg_get_serial_sequence($1, 'id'))::text as id from generate_series(1, $2)`,
    [quoteName(table), records.length],
  )
  for (const [index, record] of records.entries()) ids.set(record.primary_identifier, rows[index]?.id ?? '')
  const names = [...columns, ...(imported ? IMPORT_RUN_AND_LINE_COLUMNS : [])].map(({ name }) => name)
  const copied = recordRows(records, ids, imported)
  await copyRows(client, table, ['id', 'primary_identifier', 'document', ...names], copied)
}

/** Yields a line of COPY text for each record: id, primary identifier, document and columns; import run and line. */
export function* recordRows(
  records: readonly PreparedRecord[],
  ids: ReadonlyMap<string, string>,
  imported?: ImportRunAndLines,
): Generator<string> {
  for (const { primary_identifier, document, columns } of records) {
    let row = `${ids.get(primary_identifier)}\t${toCopyField(primary_identifier)}\t${toCopyField(document)}`
    for (const value of columns) row += `\t${toCopyField(value)}`
    if (imported) row += `\t${imported.run}\t${imported.lines.get(primary_identifier)}`
    yield `${row}\n`
  }
}

const DOCUMENT_COLUMN = { name: 'document', sql_type: 'text' }
const IMPORT_RUN_AND_LINE_COLUMNS = [
  { name: 'import_run', sql_type: 'bigint' },
  { name: 'import_line', sql_type: 'bigint' },
]

async function updateRecords(
  client: ClientBase,
  { table, columns }: RecordTable,
  records: readonly PreparedRecord[],
  ids: ReadonlyMap<string, string>,
  imported: ImportRunAndLines | undefined,
): Promise<void> {
  const rows = records.map((record) => {
    const values = columns.map(({ name }, index) => [name, record.columns[index] ?? null])
    return {
      id: ids.get(record.primary_identifier),
      document: record.document,
      ...(imported && { import_run: imported.run, import_line: imported.lines.get(record.primary_identifier) }),
      ...Object.fromEntries(values),
    }
  })
  const set = [DOCUMENT_COLUMN, ...(imported ? IMPORT_RUN_AND_LINE_COLUMNS : []), ...columns]
  await updateRows(client, table, set, rows, ['updated_at = now()'])
}

/** Deletes the identifier rows of stored records, before the caller writes new rows. */
async function deleteIdentifiers(client: ClientBase, { identifierTable }: RecordTable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await client.query(`delete from ${quoteName(identifierTable)} where record = any($1::bigint[])`, [ids])
}

function* identifierRows(
  records: Iterable<PreparedRecord>,
  ids: ReadonlyMap<string, string>,
  aliases: AliasesBySurvivor,
): Generator<string> {
  for (const { primary_identifier, identifiers } of records) {
    const id = ids.get(primary_identifier)
    for (const { type, value, names } of recordIdentifiersAndAliases(identifiers, aliases.get(id ?? ''))) {
      yield `${toCopyField(type)}\t${toCopyField(value)}\t${id}\t${names === 'record' ? 't' : 'f'}\n`
    }
  }
}
