/** The memory of exchanges and of ciphertexts: what was received before is known again. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const now = sql`now()`
const text = sql`text collate "C"`

export const messageMemory: Migration = {
  /**
   * No partitions: a unique key of a partitioned table has to contain what it is partitioned by, so a
   * message_id would be unique within a day only. No foreign keys: participants and registries are never
   * deleted, and checking them would lock the busiest participant's row for every message.
   */
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('exchange')
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('message_id', text, (column) => column.notNull())
      .addColumn('fingerprint', 'bytea', (column) =>
        column.notNull().check(sql`octet_length(fingerprint) = 32`),
      )
      .addColumn('correlation_id', 'uuid', (column) => column.notNull())
      .addColumn('registry', 'integer', (column) => column.notNull())
      .addColumn('operation', text, (column) => column.notNull())
      .addColumn('received_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addPrimaryKeyConstraint('exchange_pkey', ['participant', 'message_id'])
      .execute()
    await db.schema.createIndex('exchange_received_index').on('exchange').column('received_at').execute()

    await db.schema
      .createTable('sealed_message')
      .addColumn('fingerprint', 'bytea', (column) =>
        column.primaryKey().check(sql`octet_length(fingerprint) = 32`),
      )
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('message_id', text, (column) => column.notNull())
      .addColumn('received_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .execute()
    await db.schema
      .createIndex('sealed_message_received_index')
      .on('sealed_message')
      .column('received_at')
      .execute()
  },
}
