/**
 * Accounts of access: entries in hash chains, pseudonyms of the persons that they are about, checkpoints that sign the
 * chains, and tombstones for what was erased or pruned.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const accounts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table account (
      chain uuid not null,
      sequence bigint not null check (sequence > 0),
      at timestamptz not null,
      -- Canonical JSON, as it was hashed.
      entry text not null,
      -- 32 bytes for each row of account_person.
      commitments bytea not null,
      hash bytea not null,
      -- For look-ups; the entry has them too.
      message_id text collate "C",
      reply_message_id text collate "C",
      primary key (chain, sequence)
    )`.execute(db)
    await sql`create index account_at_index on account using brin (at)`.execute(db)
    await sql`create index account_message_index on account (message_id)
      where message_id is not null`.execute(db)
    await sql`create index account_reply_message_index on account (reply_message_id)
      where reply_message_id is not null`.execute(db)

    // No foreign key: an entry is pruned and its persons are erased independently of each other.
    await sql`create table account_person (
      chain uuid not null,
      sequence bigint not null,
      position integer not null check (position >= 0),
      pseudonym bytea not null,
      salt bytea not null,
      role text not null check (role in ('seen', 'asked', 'written')),
      primary key (chain, sequence, position)
    )`.execute(db)
    await sql`create index account_person_pseudonym_index on account_person (pseudonym)`.execute(db)

    await sql`create table account_checkpoint (
      id bigint generated always as identity primary key,
      chain uuid not null,
      sequence bigint not null check (sequence >= 0),
      hash bytea not null,
      at timestamptz not null,
      -- Canonical JSON, as it was signed.
      content text not null,
      -- SHA-256 of the content.
      digest bytea not null unique,
      kid text collate "C" not null,
      signature bytea not null
    )`.execute(db)
    await sql`create index account_checkpoint_chain_index on account_checkpoint (chain, id)`.execute(db)
    await sql`create index account_checkpoint_at_index on account_checkpoint (at)`.execute(db)

    await sql`create table account_tombstone (
      id bigint generated always as identity primary key,
      at timestamptz not null,
      -- Canonical JSON, as it was signed.
      content text not null,
      kid text collate "C" not null,
      signature bytea not null,
      -- Those that the content names.
      chains uuid[] not null
    )`.execute(db)
    await sql`create index account_tombstone_chains_index on account_tombstone using gin (chains)`.execute(db)

    await sql`create table account_key (
      kid text collate "C" primary key,
      kind text not null check (kind in ('signature', 'pseudonym', 'confidential')),
      -- The public JWK of a signature key. It is never deleted.
      public_key jsonb check ((public_key is null) = (kind <> 'signature')),
      -- The private JWK, or the secret; null once it is erased.
      sealed bytea check (sealed is not null or kind = 'signature'),
      created_at timestamptz not null default now(),
      retired_at timestamptz check (retired_at is not null or sealed is not null)
    )`.execute(db)
    await sql`create unique index account_key_current_index on account_key (kind)
      where retired_at is null`.execute(db)
    await sql`alter table account_key add column master_version integer
      generated always as (get_byte(sealed, 0)) stored
      constraint account_key_master_version_fkey references master_key`.execute(db)
  },
}
