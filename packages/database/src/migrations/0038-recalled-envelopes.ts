/** Envelopes of a mailbox that were taken back are found again, for the trace of what they held. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const recalledEnvelopes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index delivery_recalled_index on delivery (mailbox)
      where state = 'dropped' and reason = 'recalled'`.execute(db)
  },
}
