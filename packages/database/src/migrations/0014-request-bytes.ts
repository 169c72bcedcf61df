/** How large an accepted request is once it is opened, so that it can be told before. */
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

export const requestBytes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // None of what nodes accept that do not have this yet.
    await db.schema.alterTable('accepted_exchange').addColumn('request_bytes', 'integer').execute()
  },
}
