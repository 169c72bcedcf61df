/**
 * Deliveries and breakers by destination: the origin of the address that a delivery goes to. What is away at one
 * address of a participant says nothing of its other addresses.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const deliveryDestinations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Addresses are kept as the URL standard writes them, so this is what `URL.origin` says. Empty: there is none.
    await sql`alter table delivery add column origin text collate "C" not null
      generated always as (coalesce(substring(target from '^https?://[^/?#]+'), '')) stored`.execute(db)
    await sql`drop index delivery_pending_index`.execute(db)
    await sql`create index delivery_pending_index on delivery (participant, origin, next_attempt_at)
      where state = 'pending'`.execute(db)

    // Which of its addresses opened the breaker of a participant is not known: five attempts say it again.
    await sql`delete from breaker`.execute(db)
    await sql`alter table breaker add column origin text collate "C" not null default '',
      add column failed_at timestamptz not null default now(),
      drop constraint breaker_pkey, add primary key (participant, origin)`.execute(db)
  },
}
