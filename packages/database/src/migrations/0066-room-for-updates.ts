/**
 * Pages of exchanges and deliveries keep room for the next versions of their rows. The claim of an exchange then writes no index entry,
 * and PostgreSQL's log gets what has changed in place of the whole row with its body. Rows that are there stay where they are.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const roomForUpdates: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    // In percent. An exchange is updated at least twice, a delivery once.
    await sql`alter table accepted_exchange set (fillfactor = 40)`.execute(db)
    await sql`alter table delivery set (fillfactor = 50)`.execute(db)
  },
}
