import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { openDatabase } from '../database.ts'
import { directory } from './0001-directory.ts'
import { quotas } from './0005-quotas.ts'

test("a demo that is there already has no limits, others have the server's", async () => {
  const empty = await emptyDatabase()
  const db = openDatabase(empty.connection)
  // Migrations see a database without types: what its tables are is what they change.
  const untyped = db.kysely as unknown as Kysely<unknown>
  await directory.up(untyped)
  await db.pool.query(`insert into participant (sender_id, client_id, name, demo)
    values ('demo', 'a', 'Demo', true), ('real', 'b', 'Real', false)`)
  await quotas.up(untyped)
  const { rows } = await db.pool.query('select sender_id, rate_limit, concurrency_limit from participant order by id')
  expect(rows).toEqual([
    { sender_id: 'demo', rate_limit: Infinity, concurrency_limit: Infinity },
    { sender_id: 'real', rate_limit: null, concurrency_limit: null },
  ])
  await db.close()
  await empty.drop()
})
