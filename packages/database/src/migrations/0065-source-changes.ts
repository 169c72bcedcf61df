/**
 * Registries that get another source file: what their records had before. A node of the version before goes on as before, and clears
 * nothing away.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const sourceChanges: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table source_mirror
      add column was_live boolean not null default false, -- until all records were read, what is kept of answers and events has keys of the source for ids
      add column abandoned jsonb not null default '[]', -- former source files with the position in the log: the source keeps its log for us there
      add column left_at timestamptz -- since when the registry reads its source live, and its copies are to go`.execute(db)
  },
}
