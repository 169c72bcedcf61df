/** Limits of a participant's own, and the buckets from which all nodes take. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const unlimited = sql<number>`'infinity'`
/** Null: the server's limit; 'infinity': no limit at all. NaN is greater than infinity to PostgreSQL. */
const limit = (column: string) => sql<boolean>`${sql.ref(column)} > 0 and ${sql.ref(column)} <= 'infinity'`

export const quotas: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('participant')
      .addColumn('rate_limit', 'double precision', (column) => column.check(limit('rate_limit')))
      .addColumn('concurrency_limit', 'double precision', (column) =>
        column.check(sql`${limit('concurrency_limit')} and concurrency_limit = floor(concurrency_limit)`),
      )
      .execute()
    await sql`update participant set rate_limit = ${unlimited}, concurrency_limit = ${unlimited}
      where demo`.execute(db)

    // Unlogged: a bucket that a crash empties of its row is a full one, and taking from it costs no write
    // to the log. Half of a page stays free, so that its few rows change in place.
    await sql`create unlogged table quota_bucket (
      bucket text collate "C" primary key,
      tokens double precision not null,
      granted double precision not null,
      refilled_at timestamptz not null
    ) with (fillfactor = 50)`.execute(db)
  },
}
