/** Registries, participants with their client secrets, and the keys that sign access tokens. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * The rules of `text.ts`, once more: `|` and `"` would break the kidId of a signature, which is made of
 * it. Lengths are in characters.
 */
const senderId = (column: string) =>
  sql`char_length(${sql.ref(column)}) between 1 and 255 and ${sql.ref(column)} !~ '[|"[:cntrl:]]'`

const now = sql`now()`
const text = sql`text collate "C"`

export const directory: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('registry')
      .addColumn('id', 'integer', (column) => column.generatedAlwaysAsIdentity().primaryKey())
      .addColumn('namespace', text, (column) => column.notNull().unique())
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('sender_id', text, (column) => column.notNull().unique().check(senderId('sender_id')))
      .addColumn('aliases', sql`text[] collate "C"`, (column) => column.notNull().defaultTo(sql`'{}'`))
      .addColumn('demo', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .execute()

    await db.schema
      .createTable('participant')
      .addColumn('id', 'integer', (column) => column.generatedAlwaysAsIdentity().primaryKey())
      .addColumn('sender_id', text, (column) => column.notNull().unique().check(senderId('sender_id')))
      .addColumn('client_id', text, (column) => column.notNull().unique())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().defaultTo('active').check(sql`status in ('active', 'disabled')`),
      )
      .addColumn('max_page_size', 'integer', (column) => column.check(sql`max_page_size >= 1`))
      .addColumn('demo', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .execute()

    await db.schema
      .createTable('participant_secret')
      .addColumn('id', 'integer', (column) => column.generatedAlwaysAsIdentity().primaryKey())
      .addColumn('participant', 'integer', (column) =>
        column.notNull().references('participant.id').onDelete('cascade'),
      )
      .addColumn('sha256', 'bytea', (column) => column.notNull().check(sql`octet_length(sha256) = 32`))
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addColumn('retired_at', 'timestamptz')
      .execute()
    await sql`create index participant_secret_live_index on participant_secret (participant)
      where retired_at is null`.execute(db)

    await db.schema
      .createTable('token_key')
      .addColumn('kid', text, (column) => column.primaryKey())
      .addColumn('public_jwk', 'jsonb', (column) => column.notNull())
      .addColumn('private_jwk', 'jsonb', (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .execute()
  },
}
