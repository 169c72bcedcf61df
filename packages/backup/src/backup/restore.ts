/** Loads a backup into an empty database: makes the tables, and then loads all rows in one transaction. */

import { type Database, migrate } from '@rollcall/database/database'
import { unknownMigrations } from '@rollcall/database/migrate'
import { StoreRefusal } from '@rollcall/database/refusal'
import { withTransaction } from '@rollcall/database/transaction'
import { createEmptyRecordTables } from '@rollcall/records/records/record-tables'
import { readRegistries } from '@rollcall/records/registries/registries'
import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely'
import type { PoolClient } from 'pg'
import { advanceCounterColumns, advanceSequences, type CounterColumn } from '../store/after-load.ts'
import { currentRole, runAsRole, stripTablesForLoading } from '../store/bare-tables.ts'
import {
  type CatalogTable,
  findFilledTable,
  findTableOwners,
  listSchemaObjects,
  listSequences,
  listTables,
  quoteCatalogName,
  tableNameSql,
} from '../store/catalog.ts'
import { beginCopyIn } from '../store/copy.ts'
import {
  beginRestoration,
  deleteUnloadedRestorations,
  findRestorationIfMigrated,
  markRestorationLoaded,
} from '../store/restorations.ts'
import { BackupDamaged } from './file-format.ts'
import type { TableRowCount } from './manifest.ts'
import type { CheckedBackup } from './read-backup.ts'

interface LoadDeps {
  readonly db: Database
  /** The same database, connected as its owner. It equals `db` when one role is both owner and application. */
  readonly owner: Database
  /** Columns of counters, such as of the envelopes of a mailbox. A restore advances them past numbers used after the snapshot. */
  readonly numbered: readonly CounterColumn[]
  readonly signal?: AbortSignal
}

export interface LoadedBackup {
  readonly restoration: number
  readonly tables: readonly TableRowCount[]
  /** The tables of the file that this version does not have; empty when an earlier call loaded the backup. */
  readonly left_out: readonly string[]
  /** True when an earlier call had loaded the backup already. */
  readonly before: boolean
}

/**
 * Loads a backup. The process may be killed at any moment, and the call repeated.
 * @throws StoreRefusal the database is not empty, its tables are newer than the backup, this version is older than the
 * backup or cannot read a registry in it, another command restores the same database, or `signal` was aborted
 * @throws BackupDamaged
 */
export async function loadBackup(deps: LoadDeps, backup: CheckedBackup): Promise<LoadedBackup> {
  const { db, owner } = deps
  const before = await requireEmptyOrLoadedDatabase(owner, backup)
  if (before !== null) return { restoration: before, tables: backup.end.tables, left_out: [], before: true }
  await migrate(owner, db, backup.header.schema)
  const restoration = await withTransaction(owner.pool, async (client) => {
    await deleteUnloadedRestorations(client)
    return beginRestoration(client, backup.header.id)
  })
  const application = await currentRole(db.pool)
  const loaded = await withTransaction(owner.pool, (client) =>
    loadInTransaction(client, { ...deps, application, restoration }, backup),
  )
  return { restoration, before: false, ...loaded }
}

/** Refuses a database with content. @returns null when it is empty, or the id of the restoration that loaded this backup */
async function requireEmptyOrLoadedDatabase({ pool }: Database, { header }: CheckedBackup): Promise<number | null> {
  const unknown = unknownMigrations(header.schema)
  if (unknown.length > 0) {
    throw new StoreRefusal(
      `a newer Rollcall made this backup (${unknown.join(', ')}): restore it with that version or a later one`,
    )
  }
  const last = await findRestorationIfMigrated(pool)
  if (last !== null && last.loaded_at !== null && last.applied_at === null && last.backup === header.id) {
    return last.id
  }
  const [object] = await listSchemaObjects(pool)
  if (object === undefined) return null
  const { rows } = await pool.query<{ found: boolean }>(
    `select pg_catalog.to_regclass('rollcall_migration') is not null as found`,
  )
  if (rows[0]?.found !== true) throw notEmptyRefusal(object)
  const filled = await findFilledTable(pool)
  if (filled !== null) throw notEmptyRefusal(filled)
  const { rows: done } = await pool.query<{ name: string }>('select name from rollcall_migration')
  const newer = done.map(({ name }) => name).filter((name) => !header.schema.includes(name))
  if (newer.length > 0) {
    throw new StoreRefusal(
      `the tables of this database are newer than the backup (${newer.join(', ')}): restore into a database without tables`,
    )
  }
  return null
}

const notEmptyRefusal = (name: string): StoreRefusal =>
  new StoreRefusal(`the database is not empty (${JSON.stringify(name)}): a backup is restored into a new database`)

interface TransactionLoadDeps extends LoadDeps {
  /** The name of the application role, as SQL. */
  readonly application: string
  readonly restoration: number
}

async function loadInTransaction(
  client: PoolClient,
  { application, restoration, numbered, signal }: TransactionLoadDeps,
  { header, tables, end }: CheckedBackup,
): Promise<Pick<LoadedBackup, 'tables' | 'left_out'>> {
  await client.query("select set_config('statement_timeout', '0', true), set_config('maintenance_work_mem', '256MB', true)")
  const { rows } = await client.query<{ alone: boolean }>(
    "select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('rollcall restore', 0)) as alone",
  )
  if (rows[0]?.alone !== true) throw new StoreRefusal('another command restores this database at the same time')
  const makeAgain = [await stripTablesForLoading(client)]
  let targets = await readTargetTables(client)
  let records = false
  const counts: TableRowCount[] = []
  const left_out: string[] = []
  for await (const { table, rows: content } of tables()) {
    if (!records && RECORD_TABLE_PATTERN.test(table.name)) {
      // The tables of records come last in the file. The registries are loaded by now, so these tables can be created.
      records = true
      await runAsRole(client, application, () => createAllRecordTables(client))
      makeAgain.push(await stripTablesForLoading(client))
      targets = await readTargetTables(client)
    }
    const target = targets.get(tableNameSql(table))
    if (target === undefined) {
      left_out.push(table.name)
      continue
    }
    const count = await runAsRole(client, target.owner, () => loadTable(client, target, table, content, signal))
    const expected = end.tables.find(({ schema, name }) => schema === table.schema && name === table.name)
    if (expected?.rows !== count) throw new BackupDamaged(`the table ${table.name} has other rows than its backup`)
    counts.push(expected)
  }
  for (const make of makeAgain.toReversed()) await make()
  const own = new Set((await listSequences(client)).map(tableNameSql))
  await advanceSequences(
    client,
    end.sequences.filter((sequence) => own.has(tableNameSql(sequence))),
  )
  await runAsRole(client, application, () => advanceCounterColumns(client, numbered))
  await markRestorationLoaded(client, restoration, new Date(header.snapshot_at))
  return { tables: counts, left_out }
}

/** Matches the names of record tables, as `recordTableName` makes them. */
const RECORD_TABLE_PATTERN = /^r[0-9]+_/

interface TargetTable extends CatalogTable {
  readonly owner: string
}

async function readTargetTables(client: PoolClient): Promise<ReadonlyMap<string, TargetTable>> {
  const owners = await findTableOwners(client)
  const tables = await listTables(client)
  return new Map(tables.map((table) => [tableNameSql(table), { ...table, owner: owners.get(tableNameSql(table)) ?? 'none' }]))
}

async function createAllRecordTables(client: PoolClient): Promise<void> {
  const kysely = kyselyOf(client)
  const { registries, unreadable } = await readRegistries({ kysely })
  const [unknown] = unreadable
  if (unknown !== undefined) {
    throw new StoreRefusal(
      `this version cannot read the registry ${unknown.namespace}: restore with the version that made the backup, or a later one`,
    )
  }
  for (const registry of registries) await createEmptyRecordTables(kysely, registry)
}

/** Makes a Kysely that only uses this connection, which is in a transaction. */
function kyselyOf(client: PoolClient): Kysely<unknown> {
  const lent: PostgresPoolClient = { query: client.query.bind(client) as PostgresPoolClient['query'], release: () => undefined }
  return new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: { options: {}, connect: async () => lent, end: async () => undefined } }),
  })
}

/** Loads the rows of a table. A column that this version does not have is read and dropped. */
async function loadTable(
  client: PoolClient,
  target: TargetTable,
  table: CatalogTable,
  content: AsyncGenerator<Buffer>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const old = table.columns.filter((column) => !target.columns.includes(column))
  const alter = (how: string) => client.query(`alter table ${tableNameSql(target)} ${how}`)
  for (const column of old) await alter(`add column ${quoteCatalogName(column)} text`)
  // The file has no rows of a table without columns.
  const copy = table.columns.length === 0 ? null : beginCopyIn(client, { ...target, columns: table.columns })
  for await (const piece of content) {
    if (signal?.aborted) throw new StoreRefusal('interrupted: nothing is restored; the same command begins anew')
    await copy?.write(piece)
  }
  const count = (await copy?.end()) ?? 0
  for (const column of old) await alter(`drop column ${quoteCatalogName(column)}`)
  return count
}
