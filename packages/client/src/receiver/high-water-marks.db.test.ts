import { ignoreConnectionLosses } from '@rollcall/database/database'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { HIGH_WATER_MARKS_TABLE, marksInSql } from './high-water-marks.ts'

let database: Awaited<ReturnType<typeof emptyDatabase>>
let pool: pg.Pool

beforeAll(async () => {
  database = await emptyDatabase()
  pool = ignoreConnectionLosses(new pg.Pool(database.connection))
  await pool.query(HIGH_WATER_MARKS_TABLE)
  await pool.query(HIGH_WATER_MARKS_TABLE)
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

it('the highest number is remembered by every process, whichever came last, until it is forgotten', async () => {
  const [one, other] = [0, 1].map(() => marksInSql((text, values) => pool.query(text, [...values])))
  if (one === undefined || other === undefined) throw new Error('two were made')
  expect(await one.get('a')).toBeNull()
  await Promise.all([one.raise('a', 7), other.raise('a', 9_000_000_000), one.raise('a', 8)])
  expect(await other.get('a')).toBe(9_000_000_000)
  await one.forget()
  expect(await one.get('a')).toBe(9_000_000_000)
  await one.forget({ age_seconds: -1 })
  expect(await one.get('a')).toBeNull()
})

it('many are read and raised in one statement each', async () => {
  const marks = marksInSql((text, values) => pool.query(text, [...values]))
  await marks.raise('many-1', 7)
  await marks.raiseAll?.(
    new Map([
      ['many-1', 6],
      ['many-2', 9_000_000_000],
    ]),
  )
  expect(await marks.getAll?.(['many-1', 'many-2', 'many-3'])).toEqual(
    new Map([
      ['many-1', 7],
      ['many-2', 9_000_000_000],
    ]),
  )
  await marks.raiseAll?.(new Map())
  expect(await marks.getAll?.([])).toEqual(new Map())
})

it('a number that the table cannot have is stored as the highest one', async () => {
  const marks = marksInSql((text, values) => pool.query(text, [...values]))
  await marks.raise('beyond-1', 1e19)
  await marks.raiseAll?.(
    new Map([
      ['beyond-2', 1e21],
      ['beyond-3', 7],
    ]),
  )
  expect(await marks.getAll?.(['beyond-1', 'beyond-2', 'beyond-3'])).toEqual(
    new Map([
      ['beyond-1', 2 ** 63],
      ['beyond-2', 2 ** 63],
      ['beyond-3', 7],
    ]),
  )
})
