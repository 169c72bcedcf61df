/** The tables of a registry's records. The kind decides their columns and indexes. */

import type { RegistryShape } from '@rollcall/core/model/registry'
import { repeatAfterConflicts, TABLE_LOCK_TIMEOUT } from '@rollcall/database/lock-conflict'
import { joinNameParts, quoteName, recordTableName } from '@rollcall/database/names'
import { StoreRefusal } from '@rollcall/database/refusal'
import { NO_STATEMENT_TIMEOUT_SQL } from '@rollcall/database/transaction'
import type { RecordType } from '@rollcall/protocol'
import { type Kysely, sql, type Transaction } from 'kysely'
import { hasRows, readIndexes, readTableColumns } from './catalog.ts'
import { columnGroups, type RecordColumn } from './columns.ts'
import { deleteUnknownReadingRules, findChangedRules, storeReadingRules } from './reading-rules.ts'

/**
 * The two tables of one record type in one registry. `table`: `id` bigint identity, `primary_identifier` text unique (the
 * normalised value of the record type's primary identifier), `document` text (canonical JSON), `created_at`, `updated_at`,
 * `import_run` and `import_line` (the import that last wrote the record, and the line of its file; or null), and `columns`.
 * `identifierTable`: `type` text (canonical name), `value` text (normalised), `record` bigint -> `table.id`, `names_record`
 * boolean (false: the identifier names only a part of the record, such as a household's member, or is only an alias).
 * One row for each (type, value, record): if an identifier names both the record and a part of it, `names_record` is true.
 * Several records may have the same identifier. Rows are deleted with their record.
 */
export interface RecordTable {
  /** The table's name without quotes. It must pass `quoteName` before it is used in SQL. */
  readonly table: string
  readonly identifierTable: string
  /** `Registry.id` */
  readonly registry: number
  readonly recordType: RecordType
  /** The columns of the attributes, then those of the compounds, then those for sorting. */
  readonly columns: readonly RecordColumn[]
}

/** Columns that every record table has. A kind must not use one of these names for an attribute. */
const FIXED_COLUMNS: Readonly<Record<string, string>> = {
  id: 'bigint generated always as identity primary key',
  primary_identifier: 'text collate "C" not null unique',
  document: 'text not null',
  created_at: 'timestamp with time zone not null default now()',
  updated_at: 'timestamp with time zone not null default now()',
  import_run: 'bigint',
  import_line: 'bigint',
}

/** The described tables of each record type by registry id, computed once because every search needs them. */
const tablesByRecordType = new WeakMap<RecordType, Map<number, RecordTable>>()

/** Describes the tables of one record type of a registry. Does not read the database: the tables need not exist yet. */
export function recordTable(registry: RegistryShape, recordType: RecordType): RecordTable {
  const ofType = tablesByRecordType.get(recordType) ?? new Map<number, RecordTable>()
  const found = ofType.get(registry.id) ?? computeRecordTable(registry.id, recordType)
  tablesByRecordType.set(recordType, ofType.set(registry.id, found))
  return found
}

/** A subquery for a SQL join: for each record in our own tables, its id as text and its primary identifier. */
export const recordIdsSql = (registry: RegistryShape, recordType: RecordType): string =>
  `(select id::text as id, primary_identifier from ${quoteName(recordTable(registry, recordType).table)})`

/** The record types that have tables in a registry: all of the kind, or none when the records are elsewhere. */
export const recordTypesWithTables = ({ kind, own_records }: RegistryShape): readonly RecordType[] =>
  own_records === false ? [] : kind.record_types

/** The names of the record tables of a registry, without the identifier tables. */
export const recordTableNames = (registry: RegistryShape): readonly string[] =>
  recordTypesWithTables(registry).map((recordType) => recordTable(registry, recordType).table)

function computeRecordTable(registryId: number, recordType: RecordType): RecordTable {
  const table = recordTableName(registryId, recordType)
  const columns = columnGroups(recordType).flatMap((group) => group.columns)
  const seen = new Set(Object.keys(FIXED_COLUMNS))
  for (const { name } of columns) {
    if (seen.has(name)) throw new Error(`${recordType.name}: two columns would be called ${name}`)
    seen.add(name)
  }
  return { table, identifierTable: joinNameParts(table, 'identifier'), registry: registryId, recordType, columns }
}

/**
 * Makes the missing tables, columns and indexes of a registry, and leaves existing ones as they are. Several nodes may call it at
 * the same time. If the table has records, new columns, and columns whose reading rules have changed, are listed in `column_fill`
 * for `backfillColumns`. Missing indexes of such a table are left to `applyIndexes`, which does not block writers.
 * @throws StoreRefusal a column exists with another type
 */
export async function ensureRecordTables(db: { kysely: Kysely<unknown> }, registry: RegistryShape): Promise<void> {
  // A new column waits for statements that use its table, such as a backup, and searches wait behind it. So the wait is short.
  await repeatAfterConflicts(() =>
    db.kysely.transaction().execute(async (transaction) => {
      await sql`select set_config('lock_timeout', ${TABLE_LOCK_TIMEOUT}, true)`.execute(transaction)
      await createRecordTables(transaction, registry)
    }),
  )
}

/** Does the same as `ensureRecordTables`, inside the caller's transaction. */
export async function createRecordTables(transaction: Transaction<unknown>, registry: RegistryShape): Promise<void> {
  // The build of an index on a large table may take longer than the time limit of a statement.
  await sql.raw(NO_STATEMENT_TIMEOUT_SQL).execute(transaction)
  await sql`select pg_advisory_xact_lock(hashtextextended('rollcall record tables', ${registry.id}))`.execute(transaction)
  for (const recordType of recordTypesWithTables(registry)) {
    await ensureRecordTable(transaction, registry, recordTable(registry, recordType))
  }
}

/**
 * Makes the tables and indexes of a registry in a database that does not have them, before a backup is restored into the tables.
 * After that, `ensureRecordTables` finds which columns must be read again, and what the backup lacks.
 */
export async function createEmptyRecordTables(connection: Kysely<unknown>, registry: RegistryShape): Promise<void> {
  for (const recordType of recordTypesWithTables(registry)) {
    const record = recordTable(registry, recordType)
    await createTables(connection, record)
    for (const index of declaredIndexes(record)) {
      await sql.raw(indexStatement(record, index)).execute(connection)
    }
  }
}

async function createTables(connection: Kysely<unknown>, record: RecordTable): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(connection)
  await run(createTableSql(record))
  if (await hasLz4(connection)) {
    await run(`alter table ${quoteName(record.table)} alter column "document" set compression lz4`)
  }
  for (const statement of identifierTableStatements(record)) await run(statement)
}

async function ensureRecordTable(transaction: Transaction<unknown>, registry: RegistryShape, record: RecordTable): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(transaction)
  const columns = await readTableColumns(transaction, record.table)
  if (columns.size === 0) {
    await createTables(transaction, record)
  } else {
    await addMissingColumns(transaction, registry, record, columns)
  }
  await markChangedRules(transaction, registry, record)
  await deleteUnknownReadingRules(transaction, registry, record.recordType)
  const indexes = await readIndexes(transaction, record.table)
  const missing = declaredIndexes(record).filter(({ name }) => !indexes.has(name))
  if (missing.length === 0 || (await hasRows(transaction, [record.table]))) return
  for (const index of missing) await run(indexStatement(record, index))
}

/** Adds the missing columns only: even ADD COLUMN IF NOT EXISTS takes a lock that blocks every reader. */
async function addMissingColumns(
  transaction: Transaction<unknown>,
  registry: RegistryShape,
  { table, recordType }: RecordTable,
  existing: ReadonlyMap<string, string>,
): Promise<void> {
  const added: string[] = []
  for (const [name, definition] of Object.entries(FIXED_COLUMNS)) {
    if (existing.has(name)) continue
    const column = `${quoteName(name)} ${definition}`
    await sql.raw(`alter table ${quoteName(table)} add column ${column}`).execute(transaction)
  }
  for (const { name, columns } of columnGroups(recordType)) {
    for (const column of columns) {
      const found = existing.get(column.name)
      if (found === column.sql_type) continue
      if (found !== undefined) {
        throw new StoreRefusal(`column ${column.name} of table ${table} is ${found} and the kind declares ${column.sql_type}`)
      }
      const definition = `${quoteName(column.name)} ${column.definition}`
      await sql.raw(`alter table ${quoteName(table)} add column ${definition}`).execute(transaction)
      if (!added.includes(name)) added.push(name)
    }
  }
  if (added.length > 0) await markColumnsUnfilled(transaction, registry, { table, recordType }, added)
}

/** Lists for a backfill the columns and identifiers that were read by other rules than this version's. */
async function markChangedRules(transaction: Transaction<unknown>, registry: RegistryShape, record: RecordTable): Promise<void> {
  const changed = await findChangedRules(transaction, registry, record.recordType)
  if (changed.length === 0) return
  await markColumnsUnfilled(transaction, registry, record, changed)
  await storeReadingRules(transaction, registry, record.recordType, changed)
}

async function markColumnsUnfilled(
  transaction: Transaction<unknown>,
  registry: RegistryShape,
  { table, recordType }: Pick<RecordTable, 'table' | 'recordType'>,
  names: readonly string[],
): Promise<void> {
  if (!(await hasRows(transaction, [table]))) return
  await sql`insert into column_fill (registry, record_type, name)
    select ${registry.id}, ${recordType.name}, name from unnest(${names}::text[]) as unfilled (name)
    on conflict (registry, record_type, name) do update set next_record = 0`.execute(transaction)
}

function createTableSql({ table, columns }: RecordTable): string {
  const fixed = Object.entries(FIXED_COLUMNS)
  const declared = columns.map(({ name, definition }) => [name, definition])
  const all = [...fixed, ...declared].map(([name = '', definition]) => `${quoteName(name)} ${definition}`)
  return `create table ${quoteName(table)} (${all.join(', ')})`
}

function identifierTableStatements({ table, identifierTable }: RecordTable): readonly string[] {
  return [
    `create table ${quoteName(identifierTable)} (
      "type" text collate "C" not null,
      "value" text collate "C" not null,
      "record" bigint not null references ${quoteName(table)} on delete cascade,
      "names_record" boolean not null,
      primary key ("type", "value", "record")
    )`,
    `create index ${quoteName(joinNameParts(identifierTable, 'record', 'index'))} on ${quoteName(identifierTable)} ("record")`,
  ]
}

/** An index that the kind or the operator declares. */
export interface DeclaredIndex {
  readonly name: string
  /** The name of the attribute or compound whose columns the index is on. */
  readonly of: string
  /** The text after `on <table>` in CREATE INDEX: the method and the columns. */
  readonly definition: string
}

/**
 * The indexes that the table of a record type should have besides its keys. The two columns of a date share one index,
 * (first day, last day): a search for `last <= x` also has the condition `first <= x`, so that PostgreSQL can use the index.
 */
export function declaredIndexes({ table, recordType }: RecordTable): readonly DeclaredIndex[] {
  return columnGroups(recordType).flatMap(({ name, columns, method }) => {
    if (method === null || columns.length === 0) return []
    // Searches use this index only for `@>`: the operator class is enough, and takes a third of the space.
    const suffix = columns.some(({ sql_type }) => sql_type === 'jsonb') ? ' jsonb_path_ops' : ''
    const keys = columns.map((column) => `${quoteName(column.name)}${suffix}`)
    return [{ name: joinNameParts(table, name, 'index'), of: name, definition: `using ${method} (${keys.join(', ')})` }]
  })
}

/**
 * The statement that builds an index.
 * @param how `concurrently`: records can be written during the build, and the statement must not run in a transaction
 */
export function indexStatement(
  { table }: RecordTable,
  { name, definition }: DeclaredIndex,
  how: '' | 'concurrently' = '',
): string {
  return `create index ${how} ${quoteName(name)} on ${quoteName(table)} ${definition}`
}

/**
 * True when the server can compress with lz4, which is faster than its default. PostgreSQL compresses documents above
 * about 2 kB. Look-ups take the same time with and without compression (documents of 1.7 to 6.9 kB, within 10 %), and
 * compression saves two thirds of the space.
 */
async function hasLz4(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql<{ lz4: boolean }>`
    select 'lz4' = any(enumvals) as lz4 from pg_settings where name = 'default_toast_compression'`.execute(db)
  return rows[0]?.lz4 === true
}
