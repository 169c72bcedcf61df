import { recordSuccess } from '@rollcall/delivery/store/deliveries/deliveries'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { type LossyWay, lossyWay } from '../test/lossy-connection.ts'
import { type Database, openDatabase } from './database.ts'
import { isUnavailable } from './database-errors.ts'
import { withSnapshot, withTransaction } from './transaction.ts'

let database: TestDatabase
let way: LossyWay
let db: Database
let silent = false

beforeAll(async () => {
  database = await testDatabase()
  way = await lossyWay(database.connection, () => silent, 'silent')
  db = openDatabase({ ...way.connection, statement_timeout: 300 }, { search_timeout: 300 })
})
afterAll(async () => {
  await way.close()
  await db.close()
  await database.close()
})

const delivered = {
  delivery: '00000000-0000-4000-8000-000000000001',
  claim: '00000000-0000-4000-8000-000000000002',
  number: 1,
  at: new Date(),
  duration_ms: 1,
  status: 200,
  error: null,
  answer: null,
  participant: 1,
  target: null,
  origin: '',
}

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  'a statement of the pool': () => db.pool.query('select 1 as one'),
  'a prepared one with values': () => db.pool.query({ name: 'two', text: 'select $1::integer as two', values: [2] }),
  'what is written together': () => recordSuccess(db.pool, delivered),
  'a statement of the pipeline': () => db.pipeline.query({ name: 'one', text: 'select 1 as one', values: [] }),
  'an audit entry': () => db.entries.query('select 1 as one'),
  'a search': () => db.searches.query('select 1 as one'),
  'a search that is answered later': () => db.asyncSearches.query('select 1 as one'),
  'a transaction': () => withTransaction(db.pool, (client) => client.query('select 1 as one')),
  // Its connection has the limit again when somebody else takes it.
  'a transaction that lifts the limit': () =>
    withTransaction(db.pool, (client) => client.query("select set_config('statement_timeout', '0', true)")),
  'a statement of Kysely': () => sql`select 1 as one`.execute(db.kysely),
  'a transaction of Kysely': () => db.kysely.transaction().execute((transaction) => sql`select 1 as one`.execute(transaction)),
  'a snapshot': () => withSnapshot(db, (snapshot) => snapshot.query('select 1 as one')),
}

test.each(Object.entries(WAYS))(
  '%s is given up when the host is cut off, and works when it is there again',
  async (_name, ask) => {
    await ask()
    silent = true
    const failed: unknown = await ask().then(
      () => null,
      (error: unknown) => error,
    )
    silent = false
    expect(isUnavailable(failed)).toBe(true)
    await ask()
  },
)

test('a commit may take longer: PostgreSQL does not limit it, and a standby may keep it waiting', async () => {
  const inserted = await withTransaction(db.pool, async (client) => {
    await client.query('create temporary table late (id int) on commit drop')
    await client.query(`create function pg_temp.wait_a_second() returns trigger language plpgsql as
      $$ begin perform pg_sleep(1); return null; end $$`)
    await client.query(`create constraint trigger late after insert on late deferrable initially deferred
      for each row execute function pg_temp.wait_a_second()`)
    return (await client.query('insert into late values (1)')).rowCount
  })
  expect(inserted).toBe(1)
})

test('whoever takes a connection and lifts the limit of PostgreSQL may take longer', async () => {
  const client = await db.pool.connect()
  await client.query('set statement_timeout = 0')
  const { rows } = await client.query('select 1 as one from pg_sleep(1)')
  expect(rows).toEqual([{ one: 1 }])
  client.release(true)
})
