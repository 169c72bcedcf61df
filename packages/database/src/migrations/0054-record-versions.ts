/**
 * Versions of records are times in microseconds. Nodes of the version before take theirs from the sequence: what they give out
 * in the next days must not be lower, or receivers would ignore it.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const recordVersions: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`select setval(to_regclass('record_version'),
      (extract(epoch from clock_timestamp() + interval '30 days') * 1000000)::bigint)`.execute(db)
  },
}
