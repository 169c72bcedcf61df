/** What an operator asks by the reference_id of a notification is found by an index. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const notificationReferences: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index notification_reference_index on notification using hash (reference_id)`.execute(db)
  },
}
