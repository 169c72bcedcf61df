/** Indexes by which deliveries are listed: those of a participant, and those that came to an end other than delivered. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const deliveryLists: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index delivery_participant_index on delivery (participant, created_at)`.execute(db)
    await sql`create index delivery_ended_index on delivery (state, created_at)
      where state in ('dead', 'refused', 'dropped', 'held')`.execute(db)
    await sql`drop index delivery_dead_index`.execute(db)
  },
}
