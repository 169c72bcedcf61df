import type { Predicate } from '@rollcall/core/model/predicate'
import type { RecordQuery } from '@rollcall/core/model/record-source'
import { makeRecordQuery, type SearchWithoutDay } from '@rollcall/core/query/resolve-ages'
import type { Attribute } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../keys/test/postgres.ts'
import {
  and,
  born,
  days,
  hasIdentifier,
  is,
  not,
  note,
  recordType,
  registry,
  surname,
  writeFixture,
} from '../../../test/query-fixture.ts'
import { recordSourceOfOwnTables } from '../own-records.ts'
import { explainSearch } from './explain.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  await writeFixture(database.db)
})
afterAll(() => database.close())

const asked = (predicate: Predicate, more: Partial<SearchWithoutDay> = {}): SearchWithoutDay => ({
  recordType,
  predicate,
  sort: [],
  page_size: 10,
  page_number: 1,
  ...more,
})
const query = (predicate: Predicate, more: Partial<SearchWithoutDay> = {}, cap = 100) =>
  makeRecordQuery(asked(predicate, more), '2026-02-03', { cap })

const explain = (predicate: Predicate, analyze = false) =>
  explainSearch(database.db, registry, query(predicate), { analyze, values: true })

test('the tree, the statement, its plan and cost, and the index that is missing', async () => {
  const explained = await explain(is(note, 'eq', 'abc'))
  expect(explained.tree).toBe('note eq "abc"')
  expect(explained.sql).toContain('where (record."note" = $1)')
  expect(explained.sql).toContain('limit 101')
  expect(explained.sql).not.toContain('abc')
  expect(explained.values).toEqual(['abc', 10, 0, []])
  expect(explained.plan.text).toMatch(/Scan on r1_test_person record .*cost=/)
  expect(explained.plan.text).not.toContain('actual')
  expect(explained.plan.json).toHaveProperty('Plan')
  expect(explained.cost).toBeGreaterThan(0)
  expect(explained.missing).toEqual(['note'])
})

test('what is looked for is shown to who asks for it and to nobody else', async () => {
  const secret = "o'Hara \\ '' x"
  const predicate = and(is(note, 'eq', secret), hasIdentifier(['UIN', 'U777']), not(is(born, 'lt', days('1981-07-09'))))
  const shown = await explainSearch(database.db, registry, query(predicate), { values: true })
  expect(shown.plan.text).toContain('Hara')
  const hidden = await explainSearch(database.db, registry, query(predicate), { analyze: true })
  expect(hidden.values).toBeNull()
  expect(hidden.tree).toBe('and\n  note eq ?\n  identifier UIN ?\n  not\n    born lt ?')
  expect(hidden.plan.text).toContain("'?'::text")
  expect(JSON.stringify(hidden)).not.toMatch(/Hara|U777|1981/)
  expect(hidden.plan.json).toHaveProperty('Plan.Total Cost', hidden.cost)
})

test('analyzed it says how long each part took', async () => {
  expect((await explain(is(surname, 'eq', 'abc'), true)).plan.text).toMatch(/actual .*rows=1/)
})

test('an age is explained as the date that it means on this day', async () => {
  const age: Attribute = { name: 'age', type: 'age', since: 'born', paths: [] }
  const { tree, missing } = await explain(is(age, 'ge', 18))
  expect(tree).toMatch(/^born le \{"from":"\d{4}-\d\d-\d\d"/)
  expect(missing).toEqual([])
})

const find = (asked: RecordQuery) => recordSourceOfOwnTables(database.db).reader('sync').find(registry, asked)

test('one identifier and any other predicate are found the same way round', async () => {
  for (const predicate of [hasIdentifier(['UIN', 'U1']), and(hasIdentifier(['UIN', 'U1']), is(surname, 'eq', 'abc'))]) {
    const { total, records } = await find(query(predicate, {}, 2))
    expect(total).toBe(1)
    expect(records.map(({ document }) => JSON.parse(document).surname)).toEqual(['abc'])
  }
})

test('pages, an order, and no more than one above the limit of results', async () => {
  const sort = [{ attribute: born.name, descending: true }]
  const { total, records } = await find(
    query({ is: 'identifier_type', types: ['UIN'] }, { sort, page_size: 1, page_number: 2 }, 2),
  )
  expect(total).toBe(3)
  expect(records.map(({ document }) => JSON.parse(document).surname)).toEqual(['abc'])
})
