/** Searches for few records of many read indexes: plans on 100,000 records. */

import type { Interval, Predicate } from '@rollcall/core/model/predicate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../keys/test/postgres.ts'
import {
  alive,
  and,
  area,
  born,
  crop,
  cropType,
  days,
  hasIdentifier,
  is,
  married,
  not,
  note,
  oneOf,
  or,
  score,
  seen,
  sex,
  some,
  sown,
  surname,
  table,
  tag,
  visit,
  watered,
} from '../../../test/query-fixture.ts'
import { writePopulation } from '../../../test/query-population.ts'
import { findMatchingRecords, statementRunnersByMode } from '../own-records.ts'
import { searchStatement } from '../search-statement.ts'
import { predicateToSql } from './to-sql.ts'

const RECORDS = 100_000
const PAGE = { sort: [], limit: 20, offset: 0, cap: 10_000 }

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  await writePopulation(database.db, RECORDS)
})
afterAll(() => database.close())

async function planOf(predicate: Predicate): Promise<string> {
  const { text, values } = searchStatement(table, predicateToSql(predicate, table), PAGE)
  const { rows } = await database.db.searches.query(`explain (costs off) ${text}`, values)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

const hours = (from: string, to = from): Interval => ({ from: `${from}:00:00.000Z`, to: `${to}:00:00.000Z` })
const june = days('1985-06-01', '1985-06-30')

/** Each an index answers, and each is true of fewer than 5,000 records, most of 20 to 50. */
const LEAVES: readonly (readonly [string, Predicate])[] = [
  ['text eq', is(surname, 'eq', 's7')],
  ['text in', oneOf(surname, 's7', 's8', 's9')],
  ['text starts_with', is(surname, 'starts_with', 's499')],
  ['text lt', is(surname, 'lt', 's100')],
  ['text ge', is(surname, 'ge', 's98')],
  ['code eq', is(sex, 'eq', 'x7')],
  ['boolean eq', is(alive, 'eq', true)],
  ['number eq', is(score, 'eq', 77.7)],
  ['number in', oneOf(score, 77.7, 77.8)],
  ['number lt', is(score, 'lt', 100)],
  ['number gt', is(score, 'gt', 9_900)],
  ['date eq a day', is(born, 'eq', days('1985-06-11'))],
  ['date eq a month', is(born, 'eq', june)],
  ['date in', oneOf(born, days('1985-06-11'), days('1985-07-01', '1985-07-31'))],
  ['date lt', is(born, 'lt', days('1950-05-01'))],
  ['date le', is(born, 'le', days('1950-05-01'))],
  ['date gt', is(born, 'gt', days('2004-05-01'))],
  ['date ge', is(born, 'ge', days('2004-05-01'))],
  ['datetime eq', is(seen, 'eq', hours('2024-06-11T00', '2024-06-11T23'))],
  ['datetime in', oneOf(seen, hours('2024-06-11T05'), hours('2024-06-12T00', '2024-06-12T23'))],
  ['datetime lt', is(seen, 'lt', hours('2020-03-01T00'))],
  ['datetime gt', is(seen, 'gt', hours('2031-04-01T00'))],
  ['many text eq', some(tag, is(tag, 'eq', 't7'))],
  ['many text in', some(tag, oneOf(tag, 't7', 't8'))],
  ['many datetime eq', some(visit, is(visit, 'eq', hours('2024-06-11T05')))],
  ['many date eq', some(married, is(married, 'eq', days('1985-06-11')))],
  ['many date in', some(married, oneOf(married, days('1985-06-11'), days('1985-06-12')))],
  ['element eq', some(crop, is(cropType, 'eq', 'c7'))],
  ['element in', some(crop, oneOf(cropType, 'c7', 'c8'))],
  ['element date eq', some(crop, is(sown, 'eq', days('1985-06-11')))],
  ['element datetime eq', some(crop, is(watered, 'eq', hours('2024-06-11T05')))],
  ['element eq and eq', some(crop, and(is(cropType, 'eq', 'c7'), is(area, 'eq', 7)))],
  ['element eq and range', some(crop, and(is(cropType, 'eq', 'c7'), is(area, 'lt', 20)))],
  ['element eq or eq', some(crop, or(is(cropType, 'eq', 'c7'), is(sown, 'eq', days('1985-06-11'))))],
  ['element either, and range', some(crop, and(or(is(cropType, 'eq', 'c7'), is(cropType, 'eq', 'c8')), is(area, 'lt', 20)))],
  ['identifier', hasIdentifier(['MOBILE', '+7'])],
  ['identifiers', hasIdentifier(['MOBILE', '+7'], ['UIN', 'U9'], ['UIN', 'U10'])],
]

const found = (predicate: Predicate, cap = PAGE.cap) =>
  findMatchingRecords(statementRunnersByMode(database.db).sync, table, predicateToSql(predicate, table), { ...PAGE, cap })

test.each(LEAVES)('%s reads an index', async (_, predicate) => {
  const { total } = await found(predicate)
  expect(total).toBeGreaterThan(0)
  expect(total).toBeLessThan(RECORDS / 20)
  expect(await planOf(predicate)).not.toMatch(/Seq Scan on r1_test_person/)
})

test.each(LEAVES)('%s and what no index answers reads an index', async (_, predicate) => {
  expect(await planOf(and(is(note, 'contains', '7'), predicate))).not.toMatch(/Seq Scan on r1_test_person/)
})

test.each(LEAVES)('%s or another reads both indexes', async (_, predicate) => {
  for (const other of [is(surname, 'eq', 's8'), some(crop, is(cropType, 'eq', 'c9')), hasIdentifier(['UIN', 'U3'])]) {
    const both = or(predicate, other)
    const { total } = await found(both)
    // Two that select almost 5 % each select more together, and reading all may then be right.
    if (total < RECORDS / 20) expect(await planOf(both)).not.toMatch(/Seq Scan on r1_test_person/)
  }
})

test('combinations within combinations, sides that are negated among them', async () => {
  const all = and(
    or(is(surname, 'eq', 's7'), and(is(sex, 'eq', 'x3'), is(born, 'eq', june))),
    or(is(score, 'lt', 5_000), not(is(alive, 'eq', true))),
    not(some(tag, is(tag, 'eq', 't9'))),
  )
  expect(await planOf(all)).not.toMatch(/Seq Scan on r1_test_person/)
})

test('a page in an order reads documents of the page only', async () => {
  const page = { ...PAGE, sort: [{ attribute: 'seen', descending: true }] }
  const { text, values } = searchStatement(table, predicateToSql(is(surname, 'eq', 's7'), table), { ...page, limit: 3 })
  const { rows } = await database.db.searches.query(`explain (analyze, costs off, timing off) ${text}`, values)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Index Scan using r1_test_person_pkey .*rows=1(\.00)? loops=3\)/)
})

test('a broad search reads little more than the cap', async () => {
  const broad = is(note, 'starts_with', 'n')
  const { text, values } = searchStatement(table, predicateToSql(broad, table), { ...PAGE, cap: 1_000 })
  const { rows } = await database.db.searches.query(`explain (analyze, costs off, timing off) ${text}`, values)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Seq Scan on r1_test_person record \(.*rows=1001(\.00)? loops=1\)/)
  expect((await found(broad, 1_000)).total).toBe(1_001)
})
