/**
 * The ids of a mailbox's items are digests under a key of its own, because the numbers of events count what a receiver must not
 * know. The default is for nodes of the version before, which insert mailboxes without a key.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const referenceKeys: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    // PostgreSQL has random bytes in UUIDs only. Three have 366 random bits; the digest makes 256 of them.
    await sql`alter table mailbox add column reference_key bytea not null default
      sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))`.execute(
      db,
    )
  },
}
