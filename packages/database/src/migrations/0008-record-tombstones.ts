/** Which records were deleted, and when: nothing of what they held but the primary identifier. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const text = sql`text collate "C"`

export const recordTombstones: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('record_tombstone')
      .addColumn('registry', 'integer', (column) =>
        column.notNull().references('registry.id').onDelete('cascade'),
      )
      .addColumn('record_type', text, (column) => column.notNull())
      .addColumn('record', 'bigint', (column) => column.notNull())
      .addColumn('primary_identifier', text, (column) => column.notNull())
      .addColumn('deleted_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addPrimaryKeyConstraint('record_tombstone_pkey', ['registry', 'record_type', 'record'])
      .execute()
    await db.schema
      .createIndex('record_tombstone_deleted_at_index')
      .on('record_tombstone')
      .columns(['registry', 'record_type', 'deleted_at'])
      .execute()
  },
}
