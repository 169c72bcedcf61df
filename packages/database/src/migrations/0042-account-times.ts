/** An index by which the newest accounts are read in order: a list of 50 does not sort those of a whole day. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const accountTimes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index account_newest_index on account (at)`.execute(db)
    await sql`drop index account_at_index`.execute(db)
  },
}
