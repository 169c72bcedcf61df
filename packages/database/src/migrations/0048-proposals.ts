/** Acts that wait for a second operator. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const proposals: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table proposal (
      id uuid primary key,
      act text collate "C" not null,
      -- The input of the act, encrypted. It is erased when the proposal is decided or lapses.
      sealed bytea,
      -- JSON: what would change, without secrets and persons.
      diff text not null,
      state text collate "C" not null default 'waiting'
        check (state in ('waiting', 'approved', 'done', 'failed', 'declined', 'outdated', 'lapsed')),
      -- The stable id and the name of an operator.
      proposed_by text collate "C" not null,
      proposed_name text collate "C" not null,
      proposed_at timestamptz not null,
      lapses_at timestamptz not null,
      decided_by text collate "C",
      decided_name text collate "C",
      decided_at timestamptz,
      failure text,
      check (num_nonnulls(decided_by, decided_name, decided_at) in (0, 3)),
      check (decided_by <> proposed_by),
      check (state <> 'waiting' or sealed is not null)
    )`.execute(db)
    await sql`create index proposal_waiting_index on proposal (lapses_at) where state = 'waiting'`.execute(db)
    await sql`create index proposal_newest_index on proposal (proposed_at, id)`.execute(db)
    await sql`alter table proposal add column master_version integer
      generated always as (get_byte(sealed, 0)) stored
      constraint proposal_master_version_fkey references master_key`.execute(db)
  },
}
