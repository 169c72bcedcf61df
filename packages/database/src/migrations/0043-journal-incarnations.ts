/** Which copy of a database a line of the journal is of, and the timeline in which it was opened (docs/backup.md). */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const journalIncarnations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Made by each restore, which begins a journal of its own; null: this database was never restored.
    await sql`alter table journal_database add column incarnation uuid`.execute(db)
    // PostgreSQL's, as its names of log files have it; null: it was not known. It changes with each recovery.
    await sql`alter table journal_head add column timeline text`.execute(db)
    await sql`alter table journal_open_line add column timeline text`.execute(db)
  },
}
