/** Dead letters, which are counted and listed by themselves: of a million deliveries they are few. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const deadLetters: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index delivery_dead_index on delivery (created_at, id) where state = 'dead'`.execute(db)
  },
}
