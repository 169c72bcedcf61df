/** Participants who are signed in to the partner page, the links by which one signs in once, and how far each has come. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const partnerSessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table partner_session (
      id bigint generated always as identity primary key,
      sha256 bytea not null,
      participant integer not null references participant on delete cascade,
      created_at timestamptz not null,
      seen_at timestamptz not null,
      ends_at timestamptz not null
    )`.execute(db)
    await sql`create index partner_session_participant_index on partner_session (participant)`.execute(db)
    await sql`create table partner_sign_in_link (
      id bigint generated always as identity primary key,
      sha256 bytea not null,
      participant integer not null references participant on delete cascade,
      ends_at timestamptz not null
    )`.execute(db)
    await sql`create index partner_sign_in_link_participant_index
      on partner_sign_in_link (participant)`.execute(db)
    // Messages are forgotten after days: what was seen of them once is noted here.
    await sql`create table participant_milestone (
      participant integer not null references participant on delete cascade,
      step text collate "C" not null,
      at timestamptz not null,
      primary key (participant, step)
    )`.execute(db)
  },
}
