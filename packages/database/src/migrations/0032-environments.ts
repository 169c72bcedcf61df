/** Registries and participants are live or sandbox ones; reports of checks by which a sandbox participant is promoted. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const environments: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ['registry', 'participant']) {
      await sql`alter table ${sql.table(table)}
        add column environment text not null default 'live' check (environment in ('live', 'sandbox'))`.execute(
        db,
      )
    }
    // Nothing of a message and nothing about a person: names of steps and what was found of each.
    await sql`create table participant_check (
      id integer generated always as identity primary key,
      participant integer not null,
      registry integer not null,
      -- What was seen at this time or later counts.
      since timestamptz not null,
      checked_at timestamptz not null default now(),
      -- Of this software.
      version text not null,
      passed boolean not null,
      steps jsonb not null,
      unique (participant, registry, since)
    )`.execute(db)
    await sql`create index participant_check_time_index on participant_check (participant, checked_at)`.execute(
      db,
    )
  },
}
