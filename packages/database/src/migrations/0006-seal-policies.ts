/** How each participant's messages are sealed, and the public keys that it has registered. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const now = sql`now()`
const text = sql`text collate "C"`

/** The demo's tools run on its own machine. */
const DEMO_HOSTS = ['127.0.0.1', 'localhost', '::1'].map((host) => ({
  host,
  ports: 'any',
  plainHttp: true,
  loopback: true,
}))

export const sealPolicies: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('participant')
      .addColumn('signature_policy', 'text', (column) =>
        column
          .notNull()
          .defaultTo('required')
          .check(sql`signature_policy in ('required', 'if-present', 'off')`),
      )
      .addColumn('allow_unsigned', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('signature_profile', 'jsonb', (column) =>
        column.check(sql`jsonb_typeof(signature_profile) = 'object'`),
      )
      .addColumn('encryption_policy', 'text', (column) =>
        column
          .notNull()
          .defaultTo('allowed')
          .check(sql`encryption_policy in ('required', 'allowed', 'refused')`),
      )
      // Whoever registers the key set of another would hold that one's keys.
      .addColumn('jwks_uri', text, (column) => column.unique())
      .addColumn('outgoing', 'jsonb', (column) =>
        column.notNull().defaultTo(sql`'[]'`).check(sql`jsonb_typeof(outgoing) = 'array'`),
      )
      .execute()
    await sql`update participant set signature_policy = 'if-present', allow_unsigned = true,
      outgoing = ${JSON.stringify(DEMO_HOSTS)} where demo`.execute(db)
    await sql`alter table participant add constraint participant_allow_unsigned_check
      check (allow_unsigned or signature_policy = 'required')`.execute(db)

    await db.schema
      .createTable('participant_key')
      .addColumn('id', 'integer', (column) => column.generatedAlwaysAsIdentity().primaryKey())
      .addColumn('participant', 'integer', (column) =>
        column.notNull().references('participant.id').onDelete('cascade'),
      )
      .addColumn('kid', text, (column) => column.notNull())
      .addColumn('use', 'text', (column) => column.notNull().check(sql`use in ('sig', 'enc')`))
      .addColumn('algorithm', text, (column) => column.notNull())
      .addColumn('public_jwk', 'jsonb', (column) =>
        // No member of a private or symmetric key gets in, whoever writes the row.
        column.notNull().check(sql`not public_jwk ?| array['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']`),
      )
      .addColumn('thumbprint', text, (column) =>
        column.notNull().unique().check(sql`thumbprint ~ '^[A-Za-z0-9_-]{43}$'`),
      )
      .addColumn('valid_from', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addColumn('valid_until', 'timestamptz')
      .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(now))
      .addColumn('revoked_at', 'timestamptz')
      .addCheckConstraint('participant_key_valid_check', sql`valid_until > valid_from`)
      .execute()
    await sql`create unique index participant_key_live_index on participant_key (participant, kid)
      where revoked_at is null`.execute(db)
  },
}
