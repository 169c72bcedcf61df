/** A provider of OpenID Connect may bind an operator to registries. */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const providedRegistries: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table operator_session add column bound_to integer[]`.execute(db)
  },
}
