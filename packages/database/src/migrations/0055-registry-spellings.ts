/** What peers of a registry spell in their own way: values of `reg_type`, and the names of our keys in its key set. */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const registrySpellings: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registry add column reg_type_aliases text[] not null default '{}',
      add column qualified_kids boolean not null default false`.execute(db)
  },
}
