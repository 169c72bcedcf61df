/** Reviews of emergencies, and the indexes by which emergencies and answers that are given again are found. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const accountReviews: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table account_review (
      id bigint generated always as identity primary key,
      chain uuid not null,
      sequence bigint not null,
      at timestamptz not null default now(),
      reviewed_by text not null check (char_length(reviewed_by) between 1 and 255),
      -- What was found, encrypted: it may name persons.
      sealed text not null
    )`.execute(db)
    await sql`create index account_review_entry_index on account_review (chain, sequence)`.execute(db)

    // In the canonical JSON of an entry a quotation mark within a text is escaped: the words are found as members alone.
    await sql`create index account_emergency_index on account (at)
      where strpos(entry, '"emergency":true') > 0`.execute(db)
    await sql`create index account_repeats_index on account using gin (((entry::jsonb) -> 'repeats'))
      where strpos(entry, '"repeats":[') > 0`.execute(db)
  },
}
