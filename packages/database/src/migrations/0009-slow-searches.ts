/** Which attributes slow searches asked for; names only, never what was looked for. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const text = sql`text collate "C"`

export const slowSearches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('slow_search')
      .addColumn('registry', 'integer', (column) =>
        column.notNull().references('registry.id').onDelete('cascade'),
      )
      .addColumn('record_type', text, (column) => column.notNull())
      .addColumn('attributes', sql`text[] collate "C"`, (column) => column.notNull())
      .addColumn('searches', 'bigint', (column) => column.notNull())
      .addColumn('total_ms', 'double precision', (column) => column.notNull())
      .addColumn('max_ms', 'double precision', (column) => column.notNull())
      .addColumn('last_seen', 'timestamptz', (column) => column.notNull())
      .addPrimaryKeyConstraint('slow_search_pkey', ['registry', 'record_type', 'attributes'])
      .execute()
  },
}
