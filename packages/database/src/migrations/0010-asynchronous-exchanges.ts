/**
 * What is accepted now and answered later: exchanges with their items, the deliveries that carry replies, every
 * attempt at one, and where a participant takes them. Bodies are sealed (`keys/bodies.ts`).
 *
 * No foreign keys to participants and registries, as in `exchange`: these rows are written for every message.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const now = sql`now()`
const text = sql`text collate "C"`
const oneOf = (column: string, words: readonly string[]) =>
  sql`${sql.ref(column)} in (${sql.join(words.map((word) => sql.lit(word)))})`

export const asynchronousExchanges: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('exchange').addColumn('transaction_id', text).execute()
    await db.schema
      .createIndex('exchange_correlation_index')
      .on('exchange')
      .column('correlation_id')
      .execute()
    await sql`create index exchange_transaction_index on exchange (participant, transaction_id)
      where transaction_id is not null`.execute(db)

    await db.schema
      .createTable('accepted_exchange')
      .addColumn('correlation_id', 'uuid', (column) => column.primaryKey())
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('registry', 'integer', (column) => column.notNull())
      .addColumn('operation', text, (column) => column.notNull())
      .addColumn('message_id', text, (column) => column.notNull())
      .addColumn('transaction_id', text, (column) => column.notNull())
      .addColumn('sender_uri', text)
      .addColumn('encrypted', 'boolean', (column) => column.notNull())
      .addColumn('request', 'bytea', (column) => column.notNull())
      .addColumn('items', 'integer', (column) => column.notNull())
      .addColumn('state', 'text', (column) =>
        column
          .notNull()
          .defaultTo('accepted')
          .check(oneOf('state', ['accepted', 'replying', 'replied', 'failed'])),
      )
      .addColumn('page', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('received_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addColumn('started_at', 'timestamptz')
      .addColumn('finished_at', 'timestamptz')
      .execute()
    await db.schema
      .createIndex('accepted_exchange_participant_index')
      .on('accepted_exchange')
      .columns(['participant', 'received_at'])
      .execute()
    await db.schema
      .createIndex('accepted_exchange_received_index')
      .on('accepted_exchange')
      .column('received_at')
      .execute()

    await db.schema
      .createTable('exchange_item')
      .addColumn('correlation_id', 'uuid', (column) =>
        column.notNull().references('accepted_exchange.correlation_id').onDelete('cascade'),
      )
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('reference_id', text, (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull().check(oneOf('status', ['succ', 'rjct'])))
      .addColumn('total', 'integer')
      .addColumn('page_size', 'integer')
      .addColumn('record_type', text)
      .addColumn('record_ids', sql`bigint[]`)
      .addColumn('answered_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addPrimaryKeyConstraint('exchange_item_pkey', ['correlation_id', 'position'])
      .execute()
    await db.schema
      .createIndex('exchange_item_reference_index')
      .on('exchange_item')
      .columns(['participant', 'reference_id', 'answered_at'])
      .execute()

    await db.schema
      .createTable('delivery')
      .addColumn('id', 'uuid', (column) => column.primaryKey())
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('registry', 'integer', (column) => column.notNull())
      .addColumn('correlation_id', 'uuid')
      .addColumn('callback', text, (column) => column.notNull())
      .addColumn('page', 'integer', (column) => column.notNull().defaultTo(1))
      .addColumn('message_id', text, (column) => column.notNull())
      .addColumn('target', text)
      .addColumn('encrypted', 'boolean', (column) => column.notNull())
      .addColumn('body', 'bytea', (column) => column.notNull())
      .addColumn('state', 'text', (column) =>
        column
          .notNull()
          .check(oneOf('state', ['pending', 'delivered', 'refused', 'dead', 'dropped', 'held'])),
      )
      .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('earlier', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('next_attempt_at', 'timestamptz')
      .addColumn('claim', 'uuid')
      .addColumn('claimed_until', 'timestamptz')
      .addColumn('reason', 'text')
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addColumn('since', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addColumn('finished_at', 'timestamptz')
      .addCheckConstraint('delivery_next_attempt', sql`(state = 'pending') = (next_attempt_at is not null)`)
      .execute()
    await sql`create index delivery_pending_index on delivery (participant, next_attempt_at)
      where state = 'pending'`.execute(db)
    await db.schema
      .createIndex('delivery_correlation_index')
      .on('delivery')
      .column('correlation_id')
      .execute()
    await db.schema.createIndex('delivery_message_index').on('delivery').column('message_id').execute()
    await db.schema.createIndex('delivery_created_index').on('delivery').column('created_at').execute()

    await db.schema
      .createTable('delivery_attempt')
      .addColumn('delivery', 'uuid', (column) =>
        column.notNull().references('delivery.id').onDelete('cascade'),
      )
      .addColumn('number', 'integer', (column) => column.notNull())
      .addColumn('at', 'timestamptz', (column) => column.notNull())
      .addColumn('duration_ms', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('error', text)
      .addColumn('answer', 'bytea')
      .addPrimaryKeyConstraint('delivery_attempt_pkey', ['delivery', 'number'])
      .execute()

    await db.schema
      .createTable('participant_callback')
      .addColumn('participant', 'integer', (column) =>
        column.primaryKey().references('participant.id').onDelete('cascade'),
      )
      .addColumn('allowed', sql`text[] collate "C"`, (column) => column.notNull().defaultTo(sql`'{}'`))
      .addColumn('default_url', text)
      .addColumn('auth', 'text', (column) =>
        column
          .notNull()
          .defaultTo('none')
          .check(oneOf('auth', ['none', 'bearer', 'oauth2', 'mtls'])),
      )
      .addColumn('sealed', 'bytea')
      .addColumn('concurrency', 'integer', (column) =>
        column.notNull().defaultTo(8).check(sql`concurrency >= 1`),
      )
      .addColumn('rate', 'integer', (column) => column.notNull().defaultTo(200).check(sql`rate >= 1`))
      .addColumn('timeout_ms', 'integer', (column) =>
        column.notNull().defaultTo(10_000).check(sql`timeout_ms >= 100`),
      )
      .addColumn('schedule', sql`double precision[]`)
      .addCheckConstraint('participant_callback_sealed', sql`(auth = 'none') = (sealed is null)`)
      .execute()
    await sql`alter table participant_callback add column master_version integer
      generated always as (get_byte(sealed, 0)) stored
      constraint participant_callback_master_version_fkey references master_key`.execute(db)

    await db.schema
      .createTable('breaker')
      .addColumn('participant', 'integer', (column) => column.primaryKey())
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('opened_at', 'timestamptz')
      .addColumn('probe_at', 'timestamptz')
      .execute()

    // A participant has one job that drains its deliveries, and it is only ever moved to an earlier time. The lock
    // keeps those who move it apart, and each statement behind it sees what the one before has committed. The job is
    // written even where it stays as it is: whoever is about to take it then waits for this transaction.
    await sql`create function drain_deliveries(of_participant integer, at timestamptz) returns void
      language plpgsql as $$
      declare
        name constant text := 'drain:' || of_participant;
        soonest timestamptz;
      begin
        perform pg_advisory_xact_lock(hashtextextended('rollcall drain', of_participant));
        select min(run_at) into soonest from graphile_worker.jobs
          where key = name and locked_at is null and attempts = 0;
        perform graphile_worker.add_job('drain', json_build_object('participant', of_participant),
          queue_name => name, job_key => name, run_at => least(soonest, at), max_attempts => 1000);
      end $$`.execute(db)

    await db.schema
      .createTable('node')
      .addColumn('id', 'uuid', (column) => column.primaryKey())
      .addColumn('lock_key', 'bigint', (column) => column.notNull().unique())
      .addColumn('workers', sql`text[] collate "C"`, (column) => column.notNull())
      .addColumn('started_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .execute()
  },
}
