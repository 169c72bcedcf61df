/** What an operator adds to a registry: a time zone, attributes of its own; and which columns are yet to be filled. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const now = sql`now()`
const text = sql`text collate "C"`

export const registryAttributes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The days by which ages are counted begin and end there.
    await db.schema
      .alterTable('registry')
      .addColumn('time_zone', 'text', (column) => column.notNull().defaultTo('UTC'))
      .execute()

    await db.schema
      .createTable('registry_attribute')
      .addColumn('registry', 'integer', (column) =>
        column.notNull().references('registry.id').onDelete('cascade'),
      )
      .addColumn('record_type', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('definition', 'jsonb', (column) =>
        column.notNull().check(sql`jsonb_typeof(definition) = 'object'`),
      )
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addPrimaryKeyConstraint('registry_attribute_pkey', ['registry', 'record_type', 'name'])
      .execute()

    await db.schema
      .createTable('column_fill')
      .addColumn('registry', 'integer', (column) =>
        column.notNull().references('registry.id').onDelete('cascade'),
      )
      .addColumn('record_type', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('next_record', 'bigint', (column) => column.notNull().defaultTo(0))
      .addPrimaryKeyConstraint('column_fill_pkey', ['registry', 'record_type', 'name'])
      .execute()
  },
}
