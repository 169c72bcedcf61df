/**
 * Consents: the purposes that they may name, who may sign them, what was answered under them, and what was withdrawn.
 * Persons are keyed pseudonyms. No foreign keys to exchanges and subscriptions: their rows are forgotten in their own order.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const consents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table purpose (
      code text collate "C" primary key,
      -- For people.
      text text,
      created_at timestamptz not null default now()
    )`.execute(db)
    // What is granted stays known.
    await sql`insert into purpose (code)
      select distinct jsonb_array_elements_text(terms -> 'purposes') from participant_grant
      where revoked_at is null and jsonb_typeof(terms -> 'purposes') = 'array'`.execute(db)

    await sql`create table consent_authority (
      id integer generated always as identity primary key,
      name text collate "C" not null unique,
      jwks_uri text,
      -- Hosts beyond https to the public network that requests for its key set may reach.
      outgoing jsonb not null default '[]',
      created_at timestamptz not null default now(),
      -- Its consents do not count any more. The row stays: what it revoked stays revoked.
      removed_at timestamptz
    )`.execute(db)
    await sql`create table consent_authority_key (
      authority integer not null references consent_authority on delete cascade,
      kid text collate "C" not null,
      algorithm text not null,
      public_jwk jsonb not null,
      thumbprint text collate "C" not null,
      created_at timestamptz not null default now(),
      primary key (authority, kid)
    )`.execute(db)

    // What is known of a signed consent: who used it first, about whom, and whether it is revoked.
    await sql`create table signed_consent (
      authority integer not null references consent_authority,
      jti text collate "C" not null,
      participant integer,
      pseudonym bytea,
      expires_at timestamptz,
      used_at timestamptz,
      revoked_at timestamptz,
      primary key (authority, jti)
    )`.execute(db)
    await sql`create index signed_consent_expires_index on signed_consent (expires_at)
      where revoked_at is null`.execute(db)

    // By the person, for a purpose, whatever the consent is.
    await sql`create table consent_withdrawal (
      id integer generated always as identity primary key,
      pseudonyms bytea[] not null,
      purpose text collate "C" not null,
      -- Null: of every participant.
      participant integer,
      withdrawn_at timestamptz not null default now(),
      -- The person has consented again.
      lifted_at timestamptz
    )`.execute(db)
    await sql`create index consent_withdrawal_person_index on consent_withdrawal using gin (pseudonyms)
      where lifted_at is null`.execute(db)

    // Under which consents an item of an asynchronous request was answered.
    await sql`create table consent_use (
      correlation_id uuid not null,
      reference_id text collate "C" not null,
      participant integer not null,
      pseudonyms bytea[] not null,
      purpose text collate "C" not null,
      -- Of a signed consent.
      authority integer,
      jti text collate "C",
      -- When it was signed: one that is signed after a withdrawal counts.
      given_at timestamptz,
      expires_at timestamptz,
      received_at timestamptz not null default now()
    )`.execute(db)
    await sql`create index consent_use_exchange_index on consent_use (correlation_id)`.execute(db)
    await sql`create index consent_use_person_index on consent_use using gin (pseudonyms)`.execute(db)
    await sql`create index consent_use_signed_index on consent_use (authority, jti)
      where jti is not null`.execute(db)
    await sql`create index consent_use_received_index on consent_use (received_at)`.execute(db)

    await sql`create table subscription_consent (
      subscription integer primary key references subscription on delete cascade,
      participant integer not null,
      pseudonyms bytea[] not null,
      purpose text collate "C" not null,
      authority integer not null references consent_authority,
      jti text collate "C" not null,
      -- What it covers.
      attributes jsonb not null,
      given_at timestamptz not null,
      expires_at timestamptz not null
    )`.execute(db)
    await sql`create index subscription_consent_person_index on subscription_consent using gin (pseudonyms)`.execute(
      db,
    )
    await sql`create index subscription_consent_signed_index on subscription_consent (authority, jti)`.execute(
      db,
    )

    // Who may only withdraw consents, such as an authority.
    await sql`alter table operator_token drop constraint operator_token_roles_check,
      add constraint operator_token_roles_check check (
        cardinality(roles) > 0 and roles <@ array['read', 'publish', 'consent', 'operate', 'audit', 'own'])`.execute(
      db,
    )
  },
}
