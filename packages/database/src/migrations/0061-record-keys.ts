/**
 * Ids of records that are no numbers. Those of our own tables are numbers and stay where they are: no row is touched, no index is
 * made, and nodes of the version before read and write them as before.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const recordKeys: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    // The id; record has a digest of it. Null: the id is the number in record.
    await sql`alter table event add column record_key text`.execute(db)
    // The ids; record_ids is empty. Null: the ids are the numbers in record_ids.
    await sql`alter table exchange_item add column record_keys text[]`.execute(db)
    // The record up to which a backfill is queued; backfilled has a digest of it. Null: it is the number in backfilled, if there is one.
    await sql`alter table subscription add column backfill_mark text`.execute(db)
  },
}
