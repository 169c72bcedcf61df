/** The web pages that may send requests to a registry from a browser. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const webOrigins: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registry add column web_origins text[] not null default '{}'`.execute(db)
  },
}
