/** How far an interrupted import came; one row a registry, as imports into one registry take turns. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const importProgress: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('import_progress')
      .addColumn('registry', 'integer', (column) =>
        column.primaryKey().references('registry.id').onDelete('cascade'),
      )
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addColumn('line', 'bigint', (column) => column.notNull())
      .addColumn('entries', 'bigint', (column) => column.notNull())
      .addColumn('written', 'bigint', (column) => column.notNull())
      .addColumn('rejected', 'bigint', (column) => column.notNull())
      .addColumn('rejects_bytes', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .execute()
  },
}
