import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { createDatabaseTrouble } from '../observe/database-trouble.ts'
import { type Database, openDatabase } from '../store/db/database.ts'
import { takeTokens } from '../store/directory/quotas.ts'
import { createReadiness } from './readiness.ts'

let database: TestDatabase
/** Answers what is read and declines what is written, as a full disk does. */
let readOnly: Database

beforeAll(async () => {
  database = await testDatabase()
  readOnly = openDatabase({ ...database.connection, options: '-c default_transaction_read_only=on' })
})

afterAll(async () => {
  await readOnly.close()
  await database.close()
})

const PROBE = { bucket: 'test', rate: 1, capacity: 1, wanted: 1 }

/** A database whose statements are counted. */
function counted({ pool }: Database) {
  const texts: string[] = []
  const query = (first: string | { text: string }) => {
    texts.push(typeof first === 'string' ? first : first.text)
    return pool.query(first)
  }
  return { texts, db: { pool: { query } as typeof pool } }
}

const quiet = { note: () => undefined, declinesWrites: () => false }

it('the database is asked once a second, however often we are', async () => {
  let now = 0
  const { texts, db } = counted(database.db)
  const ready = createReadiness(db, quiet, { now: () => now })
  expect(await Promise.all(Array.from({ length: 100 }, ready))).toEqual(Array(100).fill(true))
  now = 999
  await ready()
  expect(texts).toHaveLength(1)
  now = 1_000
  await ready()
  expect(texts).toHaveLength(2)
})

it('after a declined write it is not ready for some seconds, and then when a write succeeds', async () => {
  let now = 0
  const clock = { now: () => now }
  const trouble = createDatabaseTrouble({ log: { error: () => undefined }, ...clock })
  const full = counted(readOnly)
  let current = full.db.pool
  const switched = { pool: { query: (first: string) => current.query(first) } as Database['pool'] }
  const ready = createReadiness(switched, trouble, clock)
  expect(await ready()).toBe(true)
  trouble.note(await takeTokens(readOnly, PROBE).catch((error: unknown) => error))
  expect(await ready()).toBe(false)

  // What is read is still answered; the probe writes.
  now = 10_000
  expect(await ready()).toBe(false)
  expect(full.texts).toEqual(['SELECT 1', expect.stringContaining('insert into quota_bucket')])

  // What it met counts like any other declined write.
  now = 19_999
  expect(await ready()).toBe(false)
  expect(full.texts).toHaveLength(2)
  current = database.db.pool
  now = 20_000
  expect(await ready()).toBe(true)
})
