import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import { FencedPool } from './fenced-pool.ts'

let database: TestDatabase
let pool: FencedPool
let held: boolean
let failures: number

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

beforeEach(() => {
  held = true
  failures = 0
  pool = newPool(database.connection)
})
afterEach(() => pool.end())

function newPool(connection: object): FencedPool {
  const failed = (): void => {
    failures += 1
  }
  return new FencedPool({ ...connection, max: 1 }, { held: () => held, failed })
}

const REFUSED = { name: 'Fenced', message: 'the lock that permits this is not held' }

test('while the lock is held it is a pool like others', async () => {
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  const client = await pool.connect()
  expect((await client.query('select 2 as two')).rows).toEqual([{ two: 2 }])
  client.release()
  const rows = await new Promise((resolve, reject) => {
    pool.connect((error, given, done) => {
      if (given === undefined) return reject(error)
      given.query('select 3 as three').then((result) => {
        done()
        resolve(result.rows)
      }, reject)
    })
  })
  expect(rows).toEqual([{ three: 3 }])
})

test('without it no connection is given, in any way', async () => {
  held = false
  await expect(pool.connect()).rejects.toMatchObject(REFUSED)
  await expect(pool.query('select 1')).rejects.toMatchObject(REFUSED)
  const error = await new Promise((resolve) => pool.connect(resolve))
  expect(error).toMatchObject(REFUSED)
})

test('one that was waited for is not given when the lock is lost meanwhile, and is there for the next', async () => {
  const client = await pool.connect()
  const waiting = pool.connect()
  held = false
  client.release()
  await expect(waiting).rejects.toMatchObject(REFUSED)
  held = true
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a statement that fails is told, and a connection that cannot be made', async () => {
  const client = await pool.connect()
  await client.query('select 1')
  expect(failures).toBe(0)
  await expect(client.query('select 1 / 0')).rejects.toThrow('division by zero')
  client.release()
  expect(failures).toBe(1)

  const nowhere = newPool({ ...database.connection, database: 'nowhere' })
  await expect(nowhere.connect()).rejects.toThrow('does not exist')
  expect(failures).toBe(2)
  await nowhere.end()
})
