/**
 * Our own keys and what they are sealed with. A sealed value begins with the version of the master key that it was
 * sealed with; the foreign key on it refuses a value of a master key that has been replaced, and keeps that master
 * key's row as long as one such value is left.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const now = sql`now()`
const text = sql`text collate "C"`
const sealedWith = (column: RawBuilder<unknown>) => sql`get_byte(${column}, 0)`

export const keys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('master_key')
      .addColumn('version', 'integer', (column) => column.primaryKey().check(sql`version between 1 and 255`))
      .addColumn('check_value', 'bytea', (column) =>
        column.notNull().check(sql`${sealedWith(sql`check_value`)} = version`),
      )
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .execute()
    // Two rows only within the transaction that replaces one by the other.
    await sql`alter table master_key add column single boolean not null default true check (single),
      add constraint master_key_single unique (single) deferrable initially deferred`.execute(db)

    await db.schema
      .createTable('own_key')
      .addColumn('kid', text, (column) => column.primaryKey())
      .addColumn('use', 'text', (column) => column.notNull())
      .addColumn('algorithm', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) =>
        column.notNull().check(sql`state in ('next', 'active', 'retired', 'revoked')`),
      )
      .addColumn('sealed', 'bytea')
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addColumn('activated_at', 'timestamptz')
      .addColumn('retired_at', 'timestamptz')
      .addColumn('expires_at', 'timestamptz')
      .addColumn('revoked_at', 'timestamptz')
      .addCheckConstraint('own_key_sealed', sql`sealed is not null or state in ('retired', 'revoked')`)
      .addCheckConstraint('own_key_expires', sql`expires_at is not null or state <> 'retired'`)
      .addCheckConstraint('own_key_revoked', sql`sealed is null or state <> 'revoked'`)
      .execute()
    await sql`create unique index own_key_current_index on own_key (use, algorithm, state)
      where state in ('next', 'active')`.execute(db)

    await db.schema
      .createTable('body_key')
      .addColumn('day', 'date', (column) => column.primaryKey())
      .addColumn('sealed', 'bytea', (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .execute()

    for (const table of ['own_key', 'body_key']) {
      await sql`alter table ${sql.table(table)} add column master_version integer
        generated always as (${sealedWith(sql`sealed`)}) stored
        constraint ${sql.ref(`${table}_master_version_fkey`)} references master_key`.execute(db)
    }

    // The keys that have signed access tokens until now lay here in clear, and lie so in every backup. Nothing they
    // have signed is believed any more; clients whose tokens are refused ask for new ones.
    await db.schema.dropTable('token_key').execute()
  },
}
