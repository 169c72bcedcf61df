/** Operators who are signed in to the console, and the links by which one can sign in once. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const operatorSessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table operator_session (
      id bigint generated always as identity primary key,
      sha256 bytea not null,
      -- By which the operator signed in: its name and its roles are those of the session.
      token integer references operator_token on delete cascade,
      -- Or the provider of OpenID Connect that the operator signed in at, with what it said.
      issuer text collate "C",
      subject text collate "C",
      name text collate "C",
      roles text[],
      created_at timestamptz not null,
      seen_at timestamptz not null,
      ends_at timestamptz not null,
      check (case when token is null
        then num_nonnulls(issuer, subject, name, roles) = 4 and cardinality(roles) > 0
        else num_nonnulls(issuer, subject, name, roles) = 0 end)
    )`.execute(db)
    await sql`create index operator_session_token_index on operator_session (token)`.execute(db)
    await sql`create table operator_sign_in_link (
      id integer generated always as identity primary key,
      sha256 bytea not null,
      token integer not null references operator_token on delete cascade,
      ends_at timestamptz not null
    )`.execute(db)
    await sql`create index operator_sign_in_link_token_index on operator_sign_in_link (token)`.execute(db)
  },
}
