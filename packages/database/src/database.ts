/** Opens the connections to PostgreSQL: pools for common statements, searches, claims and audit entries, and a pipeline. */

import { type Journal, NO_JOURNAL } from '@rollcall/core/model/journal'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { checkTablesMigrated, readPendingMigrations, runMigrations } from './migrate.ts'
import { openPipeline, type Pipeline } from './pipeline.ts'
import { clientTimeoutMs, WaitingPool, withClientTimeout } from './pools.ts'
import { assignTablesAndRights } from './roles.ts'
import { readSchemaVersions, schemaLead } from './schema-version.ts'
import { withSearchPath } from './search-path.ts'
import { StatementNames } from './statement-names.ts'

export interface Database {
  /** Connections for all statements that the pools and the pipeline below do not run. */
  readonly pool: pg.Pool
  /** Builds and runs statements on the connections of `pool`. */
  readonly kysely: Kysely<unknown>
  /** Runs frequent, short, prepared statements on two connections of its own. */
  readonly pipeline: Pipeline
  /**
   * Connections for searches by any condition, which may be slow. There are few of these connections: searches wait for each
   * other, and other statements never wait for searches.
   */
  readonly searches: pg.Pool
  /** Connections for searches of requests that are answered later (mode async), and for snapshots (`withSnapshot`). */
  readonly asyncSearches: pg.Pool
  /** The names under which connections prepare searches whose SQL text comes a second time. */
  readonly statementNames: StatementNames
  /** One connection, on which audit entries are written together with the rows that they are about (`JointWrite`). */
  readonly entries: pg.Pool
  /** Connections on which a node claims work, so that no other statement delays it. */
  readonly claims: pg.Pool
  /** The settings of a connection to this database, for modules that open connections of their own. */
  readonly connection: pg.PoolConfig
  /** The journal, a file outside of the database; `NO_JOURNAL` until somebody sets another one. */
  readonly journal: Journal
  /** Waits for running statements, then ends every connection. May be called more than once. */
  close(): Promise<void>
}

/** The connections of a database, for code that uses nothing else of it. */
export type DatabaseWithPool = Pick<Database, 'pool'>

/** Default settings of connections; the caller and connection string may override them. Times are in milliseconds. */
const CONNECTION_DEFAULTS = {
  max: 10,
  application_name: 'rollcall',
  statement_timeout: 30_000,
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const satisfies pg.PoolConfig

/** Settings of search connections that differ from `CONNECTION_DEFAULTS`. Times are in milliseconds. */
const SEARCH_POOL_DEFAULTS = { max: 6, statement_timeout: 10_000 } as const satisfies pg.PoolConfig

/** Milliseconds that a search in mode async waits for a connection. It is long, because no caller waits. */
const ASYNC_CONNECTION_TIMEOUT_MS = 120_000

/** The most connections for claims: one claims exchanges while another renews earlier claims. */
const MOST_CLAIM_CONNECTIONS = 2

/** The most SQL texts of searches that `statementNames` remembers. A search with a remembered text is prepared under a name. */
const MOST_REMEMBERED_SEARCH_TEXTS = 100

/**
 * Statements of audit entries take longer to plan than to run. The first setting makes PostgreSQL plan each statement once, and
 * not for each execution. This plan may be made while the tables are empty; the second setting makes it use indexes.
 */
const AUDIT_ENTRY_SETTINGS_SQL = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off'

/** Compiling a plan (jit) takes longer than most searches run, and a search may use one process of PostgreSQL only. */
const SEARCH_SETTINGS_SQL = 'set jit = off; set max_parallel_workers_per_gather = 0'

export interface SearchOptions {
  /** The time limit of one search, in milliseconds. */
  readonly search_timeout?: number
}

/**
 * Opens five pools and a pipeline. Each connection is made when it is needed, so this does not fail when PostgreSQL cannot be
 * reached. At most 19 connections are open at a time: 10 of `pool`, 2 of `pipeline`, 6 of `searches`, 1 of `entries`. A node that
 * works on the queue has 9 more: 6 of `asyncSearches`, 2 of `claims`, and 1 outside of the pools (`listenForWork`). A process
 * that verifies the audit log has 1 more.
 *
 * `bigint` is read as a number: our `bigint` columns have counts and ids, and a value beyond 2^53-1 throws instead of being
 * rounded. `date` is read as 'YYYY-MM-DD', never as a moment in some time zone.
 */
export function openDatabase(connection: pg.PoolConfig, { search_timeout }: SearchOptions = {}): Database {
  const settings = { ...CONNECTION_DEFAULTS, ...withSearchPath(connection), types: { getTypeParser } }
  const limited = { ...settings, query_timeout: clientTimeoutMs(settings.statement_timeout) }
  const pool = openPool(limited)
  const searchTime = search_timeout ?? SEARCH_POOL_DEFAULTS.statement_timeout
  const searchSettings = {
    ...settings,
    ...SEARCH_POOL_DEFAULTS,
    statement_timeout: searchTime,
    query_timeout: clientTimeoutMs(searchTime),
    onConnect: (client: pg.ClientBase) => client.query(SEARCH_SETTINGS_SQL),
  }
  const searches = openPool(searchSettings)
  const asyncSearches = openPool({
    ...searchSettings,
    // A working node keeps one of these connections open, so that it can search even when the server has no more connections.
    min: 1,
    connectionTimeoutMillis: ASYNC_CONNECTION_TIMEOUT_MS,
  })
  const claims = openPool({ ...limited, min: 1, max: MOST_CLAIM_CONNECTIONS })
  const entries = openPool({
    ...limited,
    min: 1,
    max: 1,
    onConnect: (client: pg.ClientBase) => client.query(AUDIT_ENTRY_SETTINGS_SQL),
  })
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  const pipeline = openPipeline(settings)
  const pools = [pool, searches, asyncSearches, claims, entries]
  let closing: Promise<unknown> | undefined
  return {
    pool,
    kysely,
    pipeline,
    searches,
    asyncSearches,
    statementNames: new StatementNames(MOST_REMEMBERED_SEARCH_TEXTS),
    claims,
    entries,
    connection: settings,
    journal: NO_JOURNAL,
    async close() {
      // `kysely.destroy()` is not enough: it ends the pool only if kysely has run a query.
      closing ??= Promise.all([...pools.map((one) => one.end()), pipeline.close()])
      await closing
    },
  }
}

const openPool = (settings: pg.PoolConfig): pg.Pool => withClientTimeout(ignoreConnectionLosses(new WaitingPool(settings)))

/** Keeps the process alive when the pool loses a connection. Returns the pool. */
export function ignoreConnectionLosses<Pool extends pg.Pool>(pool: Pool): Pool {
  // A lost connection emits `error`: on the pool if it was idle, on the client if it was in use. Without a listener this event
  // would end the process. A query on the connection fails, and so reports the loss.
  pool.on('error', ignoreLostConnection)
  pool.on('connect', (client) => client.on('error', ignoreLostConnection))
  return pool
}

function ignoreLostConnection(): void {}

/**
 * Brings the database to the tables that this code expects, and returns the names of the migrations that ran. Any number of nodes
 * may call it at once: one works, the others wait for it. The record tables of registries are not included
 * (`ensureRecordTables`). At its end each table belongs to the owner or to the application role. If the database is one version
 * ahead, the owners of tables are not changed.
 * @param db as the owner
 * @param application the same database as the application role; left out when one role is both
 * @param only the names of the migrations to run; undefined for all. A restore gives those of the version that made the backup
 * @throws StoreRefusal the server is older than PostgreSQL 15, the encoding of the database is not UTF8, a Rollcall later than
 * the next version has migrated it, or the roles do not permit it
 */
export async function migrate(db: Database, application = db, only?: readonly string[]): Promise<readonly string[]> {
  const done = await db.kysely.connection().execute((connection) => runMigrations(connection, only))
  const { ahead } = schemaLead(await readSchemaVersions(db.kysely))
  if (ahead === 0) await assignTablesAndRights(db, application)
  return done
}

/**
 * The names of the migrations that `migrate` would run. Changes nothing.
 * @throws StoreRefusal the server, the encoding or the version of the schema does not fit, or the role may not read it
 */
export async function pendingMigrations(db: Database): Promise<readonly string[]> {
  return db.kysely.connection().execute(readPendingMigrations)
}

/**
 * Checks that the tables fit this version, and changes nothing.
 * @throws StoreRefusal they are older than this version's, or newer than the next version's
 */
export async function checkSchema(db: Database): Promise<void> {
  await db.kysely.connection().execute(checkTablesMigrated)
}

type TypeId = Parameters<typeof pg.types.getTypeParser>[0]

const { builtins } = pg.types
/** The ids of array types are missing from `builtins`. */
const ARRAY_OF_TEXT = 1009 as TypeId
const ARRAY_OF_DATE = 1182 as TypeId
const ARRAY_OF_INT8 = 1016 as TypeId

const readTextArray = pg.types.getTypeParser(ARRAY_OF_TEXT) as (text: string) => readonly (string | null)[]

const TYPE_READERS: ReadonlyMap<TypeId, (text: string) => unknown> = new Map<TypeId, (text: string) => unknown>([
  [builtins.INT8, readBigint],
  [builtins.DATE, String],
  [ARRAY_OF_DATE, pg.types.getTypeParser(ARRAY_OF_TEXT)],
  [ARRAY_OF_INT8, (text) => readTextArray(text).map((id) => (id === null ? null : readBigint(id)))],
])

function readBigint(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError('a bigint of the database is beyond 2^53-1')
  return number
}

const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  (format === 'binary' ? undefined : TYPE_READERS.get(oid)) ?? pg.types.getTypeParser(oid, format)
