/** One table of sessions in browsers and one of links that sign in once, of operators and of participants. */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const sessions: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table session (
      id bigint primary key,
      sha256 bytea not null,
      -- An operator by a token: its name and its roles are those of the session.
      token integer references operator_token on delete cascade,
      -- Or an operator by a provider of OpenID Connect, with what the provider said.
      issuer text collate "C",
      subject text collate "C",
      name text collate "C",
      roles text[],
      bound_to integer[],
      -- Or a participant.
      participant integer references participant on delete cascade,
      created_at timestamptz not null,
      seen_at timestamptz not null,
      ends_at timestamptz not null,
      check (num_nonnulls(token, issuer, participant) = 1),
      check (num_nonnulls(issuer, subject, name, roles) in (0, 4) and cardinality(roles) > 0)
    )`.execute(db)
    await sql`create index session_token_index on session (token)`.execute(db)
    await sql`create index session_participant_index on session (participant)`.execute(db)
    await sql`create table sign_in_link (
      id bigint primary key,
      sha256 bytea not null,
      token integer references operator_token on delete cascade,
      participant integer references participant on delete cascade,
      ends_at timestamptz not null,
      check (num_nonnulls(token, participant) = 1)
    )`.execute(db)
    await sql`create index sign_in_link_token_index on sign_in_link (token)`.execute(db)
    await sql`create index sign_in_link_participant_index on sign_in_link (participant)`.execute(db)
    // Whoever is signed in stays so.
    await sql`insert into session (id, sha256, token, issuer, subject, name, roles, bound_to, created_at, seen_at, ends_at)
      select id, sha256, token, issuer, subject, name, roles, bound_to, created_at, seen_at, ends_at
      from operator_session`.execute(db)
    await sql`insert into session (id, sha256, participant, created_at, seen_at, ends_at)
      select id, sha256, participant, created_at, seen_at, ends_at from partner_session
      on conflict do nothing`.execute(db)
    await sql`insert into sign_in_link (id, sha256, token, ends_at)
      select id, sha256, token, ends_at from operator_sign_in_link`.execute(db)
    await sql`insert into sign_in_link (id, sha256, participant, ends_at)
      select id, sha256, participant, ends_at from partner_sign_in_link on conflict do nothing`.execute(db)
  },
}
