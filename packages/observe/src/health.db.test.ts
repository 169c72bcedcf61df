import { type Database, openDatabase } from '@rollcall/database/database'
import { takeTokens } from '@rollcall/participants/store/quotas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { testClock } from '../test/clock.ts'
import { createDatabaseHealth } from './health.ts'

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
const log = { error: () => undefined }

it('the database is asked once a second, however often we are', async () => {
  const clock = testClock()
  let asked = 0
  const read = () => {
    asked += 1
    return database.db.pool.query('SELECT 1')
  }
  const { isReady } = createDatabaseHealth({ log, read, write: read }, clock)
  expect(await Promise.all(Array.from({ length: 100 }, isReady))).toEqual(Array(100).fill(true))
  clock.pass(999)
  await isReady()
  expect(asked).toBe(1)
  clock.pass(1)
  await isReady()
  expect(asked).toBe(2)
})

it('after a declined write it is not ready for some seconds, and then when a write succeeds', async () => {
  const clock = testClock()
  let current = readOnly
  const asked: string[] = []
  const health = createDatabaseHealth(
    {
      log,
      read() {
        asked.push('read')
        return current.pool.query('SELECT 1')
      },
      write() {
        asked.push('write')
        return takeTokens(current, PROBE)
      },
    },
    clock,
  )
  expect(await health.isReady()).toBe(true)
  health.failed(await takeTokens(readOnly, PROBE).catch((error: unknown) => error))
  expect(await health.isReady()).toBe(false)

  // Reads are still answered; the probe writes.
  clock.pass(10_000)
  expect(health.breaker()).toBe('probing')
  expect(await health.isReady()).toBe(false)
  expect(asked).toEqual(['read', 'write'])

  // The probe's refusal counts like any other declined write.
  clock.pass(9_999)
  expect(await health.isReady()).toBe(false)
  expect(asked).toHaveLength(2)
  current = database.db
  clock.pass(1)
  expect(await health.isReady()).toBe(true)
  expect(health.breaker()).toBe('closed')
})
