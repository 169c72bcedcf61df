import { type Database, openDatabase } from '@rollcall/database/database'
import { isUnavailable } from '@rollcall/database/database-errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { takeTokens } from './quotas.ts'

let database: TestDatabase
let other: Database
beforeAll(async () => {
  database = await testDatabase()
  other = openDatabase(database.connection)
})
afterAll(async () => {
  await other.close()
  await database.close()
})

/** A rate at which nothing flows in while a test runs. */
const SLOW = 0.001
const ask = (bucket: string, wanted: number, { rate = SLOW, capacity = 10, db = database.db } = {}) =>
  takeTokens(db, { bucket, rate, capacity, wanted })

/** Makes it look as if the bucket was last filled at another time. */
const turnBack = (bucket: string, interval: string) =>
  database.db.pool.query('update quota_bucket set refilled_at = clock_timestamp() - $2::interval where bucket = $1', [
    bucket,
    interval,
  ])

describe('takeTokens', () => {
  test('a bucket is full at first and gives what it has', async () => {
    expect(await ask('a', 4)).toEqual({ granted: 4, left: 6 })
    expect(await ask('a', 4)).toMatchObject({ granted: 4 })
    expect(await ask('a', 4)).toMatchObject({ granted: 2 })
    const { granted, left } = await ask('a', 4)
    expect(granted).toBe(0)
    expect(left).toBeGreaterThanOrEqual(0)
    expect(left).toBeLessThan(1)
    expect(await ask('b', 40)).toEqual({ granted: 10, left: 0 })
  })

  test('with fewer than the least that is wanted nothing is taken', async () => {
    const least = (bucket: string, wanted: number) =>
      takeTokens(database.db, { bucket, rate: SLOW, capacity: 10, wanted, least: wanted })
    expect(await least('least', 11)).toEqual({ granted: 0, left: 10 })
    expect(await least('least', 6)).toMatchObject({ granted: 6 })
    expect(await least('least', 6)).toMatchObject({ granted: 0 })
    expect(await least('least', 4)).toMatchObject({ granted: 4 })
  })

  test('it fills at its rate, up to its capacity', async () => {
    await ask('c', 10)
    await turnBack('c', '6500 seconds')
    expect(await ask('c', 10)).toMatchObject({ granted: 6 })
    await turnBack('c', '1 hour')
    expect(await ask('c', 20, { rate: 3 })).toEqual({ granted: 10, left: 0 })
  })

  test('fractions of a token are kept until they are one', async () => {
    await ask('d', 10)
    await turnBack('d', '1500 seconds')
    expect(await ask('d', 10)).toEqual({ granted: 1, left: expect.closeTo(0.5, 1) })
    await turnBack('d', '600 seconds')
    expect(await ask('d', 10)).toEqual({ granted: 1, left: expect.closeTo(0.1, 1) })
  })

  test('a clock that was set back costs nothing and gives nothing, and the bucket goes on', async () => {
    await ask('e', 5)
    await turnBack('e', '-1 hour')
    expect(await ask('e', 1, { rate: 100 })).toEqual({ granted: 1, left: 4 })
    await turnBack('e', '30 milliseconds')
    const { left } = await ask('e', 1, { rate: 100 })
    expect(left).toBeGreaterThanOrEqual(6)
  })

  test('a limit that was lowered empties what is above it', async () => {
    await ask('f', 1)
    expect(await ask('f', 10, { capacity: 2 })).toEqual({ granted: 2, left: 0 })
  })

  test('concurrent nodes together get what there is', async () => {
    const dbs = [database.db, other]
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => ask('g', 3, { capacity: 100, db: dbs[index % 2] ?? database.db })),
    )
    expect(answers.reduce((sum, { granted }) => sum + granted, 0)).toBe(100)
  })

  test('a database that is away gives nothing', async () => {
    const lost = openDatabase({ host: '/nowhere', port: 1 })
    const error = await ask('h', 1, { db: lost }).catch((thrown: unknown) => thrown)
    expect(isUnavailable(error)).toBe(true)
    await lost.close()
  })
})
