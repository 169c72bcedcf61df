/** Holds, which stop the deletion of what they cover, and indexes by which what was delivered is found and cleared. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const retention: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table hold (
      id integer generated always as identity primary key,
      kind text not null check (kind in ('person', 'participant', 'period')),
      -- Of every identifier of the person, as accounts have them.
      pseudonyms bytea[],
      -- sender_id
      participant text collate "C",
      begins_at timestamptz,
      ends_at timestamptz,
      reason text not null,
      created_by text not null,
      created_at timestamptz not null default now(),
      removed_by text,
      removed_at timestamptz,
      check ((kind = 'person') = (pseudonyms is not null)),
      check ((kind = 'participant') = (participant is not null)),
      check ((kind = 'period') = (begins_at is not null and ends_at is not null)),
      check ((removed_by is null) = (removed_at is null))
    )`.execute(db)
    await sql`create index exchange_item_records_index on exchange_item (correlation_id)
      where record_ids is not null`.execute(db)
    await sql`create index event_document_index on event (id)
      where document is not null or identifiers is not null or replaced_by is not null`.execute(db)
  },
}
