/**
 * Registries whose records are not in our own tables, and which have no record tables. A node of the version before serves the other
 * registries as before; it finds no tables of such a registry, and answers nothing for it.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const registryRecords: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registry add column own_records boolean not null default true`.execute(db)
  },
}
