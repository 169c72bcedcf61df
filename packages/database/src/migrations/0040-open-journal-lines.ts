/** The lines of the journal whose acts are not committed, and the name of this database in its journal (docs/backup.md). */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const openJournalLines: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table journal_open_line (
      sequence bigint primary key,
      opened_at timestamptz not null default now()
    )`.execute(db)
    await sql`create table journal_database (
      one boolean primary key default true check (one),
      -- Made for the first line or the first backup; a restored database has that of its backup.
      id uuid not null default gen_random_uuid()
    )`.execute(db)
  },
}
