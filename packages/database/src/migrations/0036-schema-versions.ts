/** The versions of the schema, so that a running node sees how far the database is ahead of it. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const schemaVersions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table rollcall_schema_version (
      -- In the order in which the database got them.
      position integer generated always as identity primary key,
      -- Of the release that brought it.
      version text collate "C" not null unique,
      migrated_at timestamptz not null default now()
    )`.execute(db)
    // Everything before was made before the first release, and belongs to it.
    await sql`insert into rollcall_schema_version (version) values ('0.1.0')`.execute(db)
  },
}
