/** Runs the migrations, after checks of the PostgreSQL server. */
import { type Kysely, sql } from 'kysely'
import { repeatAfterConflicts, TABLE_LOCK_TIMEOUT } from './lock-conflict.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { StoreRefusal } from './refusal.ts'
import { FIND_TABLE_OF_ANOTHER_OWNER, isPrivilegeMissing } from './roles.ts'
import {
  MOST_VERSIONS_AHEAD,
  programSchemaVersion,
  readSchemaVersions,
  schemaLead,
  withVersionRecording,
} from './schema-version.ts'

const MIGRATION_TABLE = 'rollcall_migration'
const OLDEST_SERVER_VERSION = 15

/**
 * Runs the migrations that have not run yet, on one connection, and returns their names.
 * @param only the names of the migrations to run. A restore gives those of the version that made the backup
 */
export async function runMigrations(
  connection: Kysely<unknown>,
  only: readonly string[] = Object.keys(MIGRATIONS),
): Promise<readonly string[]> {
  await checkPostgresServer(connection)
  // A migration, and the wait for another node, may take longer than the time limit of a statement.
  await sql`set statement_timeout = 0`.execute(connection)
  await sql.raw(`set lock_timeout = '${TABLE_LOCK_TIMEOUT}'`).execute(connection)
  try {
    const done = await checkMigrationsUsable(connection)
    if (only.every((name) => done.includes(name))) return []
    await checkOwnerRole(connection)
    return await runPendingMigrations(connection, only)
  } finally {
    await sql`reset statement_timeout`.execute(connection)
    await sql`reset lock_timeout`.execute(connection)
  }
}

/** Runs the pending migrations in one transaction, so that an interrupted run changes nothing. */
async function runPendingMigrations(connection: Kysely<unknown>, only: readonly string[]): Promise<readonly string[]> {
  const migrations = Object.entries(MIGRATIONS)
    .filter(([name]) => only.includes(name))
    .map(([name, migration]) => [name, withVersionRecording(migration)])
  // The migrator is loaded here, because most calls have no pending migrations.
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db: connection,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: `${MIGRATION_TABLE}_lock`,
    // Migrations developed at the same time may be merged in another order than their names have.
    allowUnorderedMigrations: true,
  })
  return repeatAfterConflicts(async () => {
    const { error, results } = await migrator.migrateToLatest()
    if (isPrivilegeMissing(error)) throw new StoreRefusal(NOT_OWNER_ROLE_REFUSAL)
    if (error !== undefined) throw error
    return (results ?? []).map((result) => result.migrationName)
  })
}

/**
 * The names of the migrations that `runMigrations` would run.
 * @throws StoreRefusal as `checkPostgresSettings` and `checkMigrationsUsable` do
 */
export async function readPendingMigrations(connection: Kysely<unknown>): Promise<readonly string[]> {
  await checkPostgresServer(connection)
  const done = await checkMigrationsUsable(connection)
  return Object.keys(MIGRATIONS).filter((name) => !done.includes(name))
}

/**
 * Checks that the tables are those of this version or of the next one, and changes nothing.
 * @throws StoreRefusal that says which command to run, or as `readPendingMigrations`
 */
export async function checkTablesMigrated(connection: Kysely<unknown>): Promise<void> {
  const pending = await readPendingMigrations(connection)
  if (pending.length === 0) return
  if (pending.length === Object.keys(MIGRATIONS).length) {
    throw new StoreRefusal('the database has no tables yet; run rollcall migrate')
  }
  throw new StoreRefusal(
    `the tables of this database are older than this Rollcall (${pending.join(', ')} must run first); ` +
      'use the version that your servers run, or upgrade the database with rollcall migrate',
  )
}

async function checkPostgresServer(connection: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ version: number; encoding: string }>`
    select pg_catalog.current_setting('server_version_num')::int / 10000 as version,
      pg_catalog.current_setting('server_encoding') as encoding`.execute(connection)
  for (const { version, encoding } of rows) checkPostgresSettings(version, encoding)
}

/** Checks that the server is new enough and the encoding is UTF8. @param version major version @throws StoreRefusal */
export function checkPostgresSettings(version: number, encoding: string): void {
  if (version < OLDEST_SERVER_VERSION) {
    throw new StoreRefusal(`PostgreSQL ${OLDEST_SERVER_VERSION} or newer is needed; this server is version ${version}`)
  }
  if (encoding !== 'UTF8') {
    throw new StoreRefusal(
      `a database with encoding UTF8 is needed; this one has ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`,
    )
  }
}

const NOT_OWNER_ROLE_REFUSAL =
  'the role of DATABASE_URL may not migrate this database: run rollcall migrate with ROLLCALL_OWNER_DATABASE_URL'

/** Checks that our role owns the owner's tables. @throws StoreRefusal another role owns a table: that role must run migrations */
async function checkOwnerRole(connection: Kysely<unknown>): Promise<void> {
  const { rows } = await sql.raw(FIND_TABLE_OF_ANOTHER_OWNER).execute(connection)
  if (rows.length > 0) throw new StoreRefusal(NOT_OWNER_ROLE_REFUSAL)
}

/** Those of the given migrations that this version does not know: a newer version made these migrations. */
export const unknownMigrations = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !Object.hasOwn(MIGRATIONS, name))

/**
 * The names of the migrations that have run, also those of the next version, whose tables this version can use.
 * @throws StoreRefusal a version after the next one, or an unknown program, has migrated the database; or our role may
 * not read its list of migrations
 */
async function checkMigrationsUsable(connection: Kysely<unknown>): Promise<readonly string[]> {
  const { rows: found } = await sql`
    select 1 where pg_catalog.to_regclass(${MIGRATION_TABLE}) is not null`.execute(connection)
  if (found.length === 0) return []
  const done = await readDoneMigrations(connection)
  const unknown = unknownMigrations(done)
  if (unknown.length > 0) {
    const { version, ahead } = schemaLead(await readSchemaVersions(connection))
    if (ahead < 1 || ahead > MOST_VERSIONS_AHEAD) {
      throw new StoreRefusal(
        `a newer Rollcall has migrated this database: its schema is of version ${version} (${unknown.join(', ')}), ` +
          `and this program is made for ${programSchemaVersion()}; run the version that migrated it, or a later one`,
      )
    }
  }
  return done
}

async function readDoneMigrations(connection: Kysely<unknown>): Promise<readonly string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from ${sql.table(MIGRATION_TABLE)} order by name`.execute(connection)
    return rows.map((row) => row.name)
  } catch (error) {
    if (isPrivilegeMissing(error)) throw new StoreRefusal(MIGRATIONS_UNREADABLE_REFUSAL)
    throw error
  }
}

const MIGRATIONS_UNREADABLE_REFUSAL =
  'the role of DATABASE_URL may not read the tables of this database yet: run rollcall migrate, with ' +
  'ROLLCALL_OWNER_DATABASE_URL where the database is not the embedded one'

/** The settings of the PostgreSQL server that `doctor` reports. */
export interface PostgresSettings {
  /** The version of the PostgreSQL server, such as `18.4`. */
  readonly version: string
  readonly encoding: string
  /** `on` or `off`, and for synchronous_commit also `local`, `remote_write`, `remote_apply`. */
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
}

/** Reads all settings in one statement. For settings that our connections override, it reads our value. */
export async function readPostgresSettings({ kysely }: { readonly kysely: Kysely<unknown> }): Promise<PostgresSettings> {
  const { rows } = await sql<PostgresSettings>`
    select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
      current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit`.execute(kysely)
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no settings')
  return row
}
