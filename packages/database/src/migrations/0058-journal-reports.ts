/** Whether each running node can write its journal, for doctor, which another user may run (docs/backup.md). */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const journalReports: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table journal_report (
      machine text collate "C" not null,
      path text collate "C" not null,
      -- Null: it can be written.
      problem text,
      reported_at timestamptz not null default now(),
      primary key (machine, path)
    )`.execute(db)
  },
}
