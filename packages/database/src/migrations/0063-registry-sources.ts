/** Source files of registries whose records are in a database of their own: every node opens what is stored. */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const registrySources: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    // What the operator wrote, in its order (json, not jsonb: columns make lists in their order). It says where the address of the database is, and never the address.
    await sql`alter table registry add column source json`.execute(db)
  },
}
