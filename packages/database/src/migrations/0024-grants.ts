/**
 * Grants: what a participant may do in a registry. Participants that could do everything get grants of everything.
 * `participant.unfiltered_subscriptions` is read no more; nodes of the version before may still run and read it.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const grants: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table participant_grant (
      id integer generated always as identity primary key,
      participant integer not null references participant on delete cascade,
      registry integer not null references registry on delete cascade,
      terms jsonb not null,
      valid_from timestamptz not null default now(),
      -- Null: no end.
      valid_until timestamptz check (valid_until > valid_from),
      created_at timestamptz not null default now(),
      -- Revoked, or replaced by a later one.
      revoked_at timestamptz
    )`.execute(db)
    await sql`create index participant_grant_index on participant_grant (participant, registry)
      where revoked_at is null`.execute(db)
    await sql`insert into participant_grant (participant, registry, terms)
      select participant.id, registry.id, jsonb_build_object(
        'operations', 'all', 'query_forms', 'all', 'ask', 'all', 'see', 'all', 'event_types', 'all',
        'programmes', 'all', 'unfiltered', unfiltered_subscriptions, 'basis', 'law')
      from participant, registry`.execute(db)
  },
}
