/**
 * The version of the schema is the last release that changed the schema: a release without migrations keeps it. Each
 * version works with the tables of the next one (docs/upgrade.md).
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { SchemaMigration } from './migration.ts'
import { MIGRATIONS } from './migrations/index.ts'

/** The first release. Migrations without a version belong to it. */
export const FIRST_SCHEMA_VERSION = '0.1.0'

/** All schema versions that this program knows, the oldest first. */
export const knownSchemaVersions = (): readonly string[] => [
  ...new Set([FIRST_SCHEMA_VERSION, ...Object.values(MIGRATIONS).flatMap(({ version }) => version ?? [])]),
]

/** The schema version for which this program is made. */
export const programSchemaVersion = (): string => knownSchemaVersions().at(-1) ?? FIRST_SCHEMA_VERSION

/**
 * Returns a migration that does the same, and then records the version of `migration`. Without a version, `migration` itself is
 * returned.
 */
export function withVersionRecording(migration: SchemaMigration): Migration {
  const { version } = migration
  if (version === undefined) return migration
  return {
    ...migration,
    async up(db: Kysely<unknown>): Promise<void> {
      await migration.up(db)
      await sql`insert into rollcall_schema_version (version) values (${version})
        on conflict (version) do nothing`.execute(db)
    },
  }
}

/** The versions that the database has recorded, the newest last; empty before the first version that records them. */
export async function readSchemaVersions(db: Kysely<unknown>): Promise<readonly string[]> {
  const { rows: found } = await sql`
    select 1 where pg_catalog.to_regclass('rollcall_schema_version') is not null`.execute(db)
  if (found.length === 0) return []
  const { rows } = await sql<{ version: string }>`
    select version from rollcall_schema_version order by position`.execute(db)
  return rows.map(({ version }) => version)
}

/** How far a database is ahead of this program. */
export interface SchemaLead {
  /** The newest version of the database. */
  readonly version: string
  /** The number of versions by which the database is newer than this program; 0 when the database is not newer. */
  readonly ahead: number
}

/** How many versions the database may be ahead. Tables of later versions may lack columns that this program uses. */
export const MOST_VERSIONS_AHEAD = 1

/**
 * Compares the recorded versions of a database with our own. If ours is not among them, `ahead` is 0: the database is older, or
 * new.
 */
export function schemaLead(versions: readonly string[], own: string = programSchemaVersion()): SchemaLead {
  const at = versions.indexOf(own)
  const ahead = at === -1 ? 0 : versions.length - 1 - at
  return { version: versions.at(-1) ?? own, ahead }
}
