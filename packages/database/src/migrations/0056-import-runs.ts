/** The run of an import has a number. The records that it writes have it too, in columns that `ensureRecordTables` adds. */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const importRuns: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table import_progress add column run bigint`.execute(db)
  },
}
