/**
 * Checkpoints are found by what they sign; published keys that have verified messages; what has been used of the daily quotas
 * of grants; operator tokens of one consent authority; a secret of the accounts is never retired.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const accountEvidence: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index account_checkpoint_sequence_index on account_checkpoint (chain, sequence)`.execute(
      db,
    )
    // Not of rows that are there: what is wrong with them is found by rollcall audit verify.
    await sql`alter table account_key add constraint account_key_secret_check
      check (kind = 'signature' or retired_at is null) not valid`.execute(db)

    // By sender_id: evidence needs them also when the participant is not there any more.
    await sql`create table published_key (
      sender_id text collate "C" not null,
      thumbprint text collate "C" not null,
      kid text collate "C" not null,
      public_jwk jsonb not null,
      -- When a message was first, and last, verified with it; the latter to the hour.
      first_used_at timestamptz not null default now(),
      last_used_at timestamptz not null default now(),
      primary key (sender_id, thumbprint, kid)
    )`.execute(db)

    await sql`create table grant_use (
      participant integer not null references participant on delete cascade,
      registry integer not null references registry on delete cascade,
      counted text not null,
      -- In UTC.
      day date not null,
      used bigint not null,
      primary key (participant, registry, counted, day)
    )`.execute(db)
    await sql`delete from quota_bucket where bucket like '% a day %'`.execute(db)

    await sql`alter table operator_token
      -- The one whose consents it may withdraw; null: all.
      add column authority integer references consent_authority`.execute(db)
  },
}
