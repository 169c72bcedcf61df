/** What other systems send to our callback paths, and how much of it each has sent on which day. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const text = sql`text collate "C"`

export const inbox: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('inbox_message')
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('message_id', text, (column) => column.notNull())
      .addColumn('fingerprint', 'bytea', (column) => column.notNull())
      .addColumn('callback', text, (column) => column.notNull())
      .addColumn('registry', 'integer', (column) => column.notNull())
      .addColumn('correlation_id', text)
      .addColumn('transaction_id', text)
      .addColumn('status', text)
      .addColumn('state', 'text', (column) => column.notNull().check(sql`state in ('stored', 'quarantined')`))
      .addColumn('body', 'bytea', (column) => column.notNull())
      .addColumn('received_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
      .addPrimaryKeyConstraint('inbox_message_pkey', ['participant', 'message_id'])
      .execute()
    await db.schema
      .createIndex('inbox_message_received_index')
      .on('inbox_message')
      .column('received_at')
      .execute()
    await db.schema
      .createIndex('inbox_message_participant_index')
      .on('inbox_message')
      .columns(['participant', 'received_at'])
      .execute()
    await sql`create index inbox_message_correlation_index on inbox_message (correlation_id)
      where correlation_id is not null`.execute(db)

    await db.schema
      .createTable('inbox_day')
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('day', 'date', (column) => column.notNull())
      .addColumn('messages', 'bigint', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('inbox_day_pkey', ['participant', 'day'])
      .execute()
  },
}
