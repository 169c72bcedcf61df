/** Identifier types that an operator adds to a registry, and those by which its records are known instead of the kind's. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const identifierTypes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registry add column primary_identifiers jsonb not null default '{}'
      check (jsonb_typeof(primary_identifiers) = 'object')`.execute(db)
    await sql`create table registry_identifier_type (
      registry integer not null references registry on delete cascade,
      name text collate "C" not null,
      definition jsonb not null check (jsonb_typeof(definition) = 'object'),
      created_at timestamptz not null default now(),
      primary key (registry, name)
    )`.execute(db)
  },
}
