/**
 * Which items an accepted exchange has, by their reference_ids, from the moment in which it is accepted; and the column
 * that databases lack which were made with 0010 as it first was.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const text = sql`text collate "C"`

export const exchangeReferences: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table delivery add column if not exists earlier integer not null default 0`.execute(db)

    // No foreign key: it would be checked for each of thousands of items when a request is accepted.
    await db.schema
      .createTable('exchange_reference')
      .addColumn('correlation_id', 'uuid', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('participant', 'integer', (column) => column.notNull())
      .addColumn('registry', 'integer', (column) => column.notNull())
      .addColumn('reference_id', text, (column) => column.notNull())
      .addColumn('received_at', 'timestamptz', (column) => column.notNull())
      .execute()
    // What was answered before has its references there already.
    await sql`insert into exchange_reference (correlation_id, position, participant, registry, reference_id, received_at)
      select correlation_id, item.position, item.participant, registry, item.reference_id, received_at
      from exchange_item as item join accepted_exchange using (correlation_id)`.execute(db)
    await sql`alter table exchange_reference add constraint exchange_reference_pkey
      primary key (correlation_id, position)`.execute(db)
    await db.schema
      .createIndex('exchange_reference_asked_index')
      .on('exchange_reference')
      .columns(['participant', 'registry', 'reference_id', 'received_at'])
      .execute()
    await db.schema.dropIndex('exchange_item_reference_index').execute()

    // Messages with one transaction_id can be many, of which the newest are asked about.
    await db.schema.dropIndex('exchange_transaction_index').execute()
    await sql`create index exchange_transaction_index on exchange (participant, transaction_id, received_at)
      where transaction_id is not null`.execute(db)

    // Exchanges that were there before are complete, unless they wait or were answered while this ran. Nodes of an
    // earlier version go on to accept exchanges without references, and do not name the column.
    await sql`alter table accepted_exchange add column references_stored boolean not null default true`.execute(
      db,
    )
    await sql`alter table accepted_exchange alter column references_stored set default false`.execute(db)
    await sql`update accepted_exchange set references_stored = false
      where state in ('accepted', 'replying') or finished_at >= now()`.execute(db)
    await sql`create index accepted_exchange_unreferenced_index on accepted_exchange (participant, received_at)
      where not references_stored`.execute(db)
  },
}
