/** How much each participant has had accepted, to be answered later, on which day. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const acceptedDays: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('accepted_day')
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('day', 'date', (column) => column.notNull())
      .addColumn('messages', 'bigint', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('accepted_day_pkey', ['participant', 'day'])
      // Half of a page stays free, so that its few rows change in place.
      .modifyEnd(sql`with (fillfactor = 50)`)
      .execute()
  },
}
