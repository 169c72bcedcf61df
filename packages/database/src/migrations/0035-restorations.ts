/**
 * Restores of this database from backups, and the end of the journal: what is written outside of the database, so that a
 * restore does not undo it (docs/backup.md).
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const restorations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table restoration (
      id integer generated always as identity primary key,
      -- Of the file; null: the database was restored by other means.
      backup uuid,
      begun_at timestamptz not null default now(),
      -- When everything of the file was there; null: the restore has not ended.
      loaded_at timestamptz,
      -- The time whose state it has.
      snapshot_at timestamptz,
      -- When the journal was applied, or renounced; servers start from then on.
      applied_at timestamptz,
      -- When outgoing messages were released.
      released_at timestamptz
    )`.execute(db)
    await sql`create table journal_head (
      one boolean primary key default true check (one),
      -- Of the last line, with the digest of its text.
      sequence bigint not null,
      digest bytea not null,
      -- The line that a process began to write: after a kill it may be in the file, and unknown here.
      begun bigint not null default 0,
      written_at timestamptz not null default now()
    )`.execute(db)
  },
}
