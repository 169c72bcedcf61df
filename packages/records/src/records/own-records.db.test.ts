import type { Predicate } from '@rollcall/core/model/predicate'
import type { RecordReader } from '@rollcall/core/model/record-source'
import type { FoundRecord, SearchPageRequest } from '@rollcall/core/model/records'
import { openDatabase } from '@rollcall/database/database'
import { withSnapshot } from '@rollcall/database/transaction'
import { type Attribute, KINDS, type Kind, type RecordType } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holdTable } from '../../../keys/test/held-table.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { recordSourceOfOwnTables } from './own-records.ts'
import { ensureRecordTables } from './record-tables.ts'

const [civil] = KINDS as readonly [Kind, ...Kind[]]
const recordType: RecordType = {
  ...civil.record_types[0],
  name: 'TestPerson',
  attributes: [
    { name: 'surname', paths: ['surname'], type: 'text', sortable: true },
    { name: 'born', paths: ['born'], type: 'date', sortable: true },
  ],
}
const registry = { id: 1, kind: { ...civil, record_types: [recordType] as const } }

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  const { db } = database
  await ensureRecordTables(db, registry)
  await db.pool.query(
    `insert into r1_test_person (primary_identifier, document, surname, born_from, born_to)
     select 'U' || n, '{"n":' || n || '}', case when n % 20 > 0 then 'S' || n % 3 end,
       date '2000-01-01' - n, date '2000-12-31'
     from generate_series(1, 100) as n order by n`,
  )
  await db.pool.query(
    `insert into r1_test_person_identifier
     select 'UIN', primary_identifier, id, true from r1_test_person
     union all select 'MOBILE', '+' || id % 10, id, true from r1_test_person`,
  )
})
afterAll(() => database.close())

const numbers = (records: readonly FoundRecord[]): number[] => records.map(({ document }) => JSON.parse(document).n)
const bornFirst = [{ attribute: 'born', descending: false }]
const page: SearchPageRequest = { sort: [], limit: 3, offset: 0, cap: 50 }
const PHONE = (value: string): Predicate => ({ is: 'identifier', identifiers: [{ type: 'MOBILE', value }] })
const SURNAME = (value: string): Predicate => {
  return { is: 'compare', attribute: recordType.attributes[0] as Attribute, operator: 'eq', value }
}
const finder =
  (predicate: (value: string) => Predicate) =>
  (value: string, more: Partial<SearchPageRequest> = {}) =>
    recordSourceOfOwnTables(database.db)
      .reader('async')
      .find(registry, { recordType, predicate: predicate(value), page: { ...page, ids: more.cap ?? page.cap, ...more } })
const byPhone = finder(PHONE)
const bySurname = finder(SURNAME)

const ALL = [7, 17, 27, 37, 47, 57, 67, 77, 87, 97]

describe('the ids of all that match', () => {
  test.each([
    ['an identifier', byPhone, '+7', ALL],
    ['a condition', bySurname, 'S1', Array.from({ length: 100 }, (_, n) => n + 1).filter((n) => n % 20 && n % 3 === 1)],
  ])('come with the page, in its order: %s', async (_name, find, value, expected) => {
    const found = await find(value)
    expect(found.ids).toEqual(expected.map(String))
    expect(numbers(found.records)).toEqual(expected.slice(0, 3))
    expect(found.total).toBe(expected.length)

    const sorted = await find(value, { sort: bornFirst, offset: 2 })
    expect(sorted.ids).toEqual(expected.toReversed().map(String))
    expect(numbers(sorted.records)).toEqual(expected.toReversed().slice(2, 5))
    // Also where the page lies beyond the last.
    expect(await find(value, { offset: 1_000 })).toEqual({ total: expected.length, records: [], ids: expected.map(String) })
  })

  test.each([
    ['an identifier', byPhone, '+7'],
    ['a condition', bySurname, 'S1'],
  ])('are none above the cap, and where nothing matches: %s', async (_name, find, value) => {
    expect(await find(value, { cap: 9, limit: 1 })).toMatchObject({
      total: 10,
      ids: [],
      records: [{ id: expect.any(String), document: expect.any(String) }],
    })
    expect(await find('nobody')).toEqual({ total: 0, records: [], ids: [] })
  })

  test.each([
    ['an identifier', byPhone, '+7'],
    ['a condition', bySurname, 'S1'],
  ])('are not given where nobody asked for them: %s', async (_name, find, value) => {
    const found = await find(value, { ids: 0 })
    expect(found.records).toHaveLength(3)
    expect(found.ids).toEqual([])
  })

  test('find their documents again, in any order; what is gone is left out', async () => {
    const read = (ids: readonly string[]) => recordSourceOfOwnTables(database.db).reader('async').read(registry, recordType, ids)
    expect(numbers(await read(['9', '3', '100000', '7']))).toEqual([9, 3, 7])
    expect(await read([])).toEqual([])
  })
})

test('of a text that cannot be held is nobody', async () => {
  expect(await byPhone('+7\0')).toEqual({ total: 0, records: [], ids: [] })
})

describe('a snapshot', () => {
  const look = (state: RecordReader) => state.find(registry, { recordType, predicate: SURNAME('new'), page })

  test('is one state, whatever is committed meanwhile', async () => {
    await recordSourceOfOwnTables(database.db).session(async (state) => {
      expect((await look(state)).total).toBe(0)
      await database.db.pool.query(
        `insert into r1_test_person (primary_identifier, document, surname) values ('new', '{}', 'new')`,
      )
      expect((await look(state)).total).toBe(0)
      await database.db.pool.query(`delete from r1_test_person where primary_identifier = 'U97'`)
      const all = { ...page, ids: page.cap }
      const found = await state.find(registry, { recordType, predicate: PHONE('+7'), page: all })
      expect(found.ids).toEqual(ALL.map(String))
      expect(numbers(await state.read(registry, recordType, ['97']))).toEqual([97])
    })
    expect((await recordSourceOfOwnTables(database.db).session(look)).total).toBe(1)
  })

  test.each([
    ['by a condition', SURNAME('S1'), []],
    ['by an identifier in an order', PHONE('+7'), bornFirst],
  ])('survives a search that takes too long: %s', async (_name, predicate, sort) => {
    const impatient = openDatabase(database.connection, { search_timeout: 50 })
    // A search of this registry waits for the lock, longer than it may take.
    const locked = { ...registry, id: 2 }
    await ensureRecordTables(database.db, locked)
    const held = await holdTable(database, 'r2_test_person')
    try {
      await recordSourceOfOwnTables(impatient).session(async (state) => {
        const slow = state.find(locked, { recordType, predicate, page: { ...page, sort } })
        await expect(slow).rejects.toMatchObject({ name: 'SearchTimeout', cause: { code: '57014' } })
        expect((await look(state)).total).toBe(1)
      })
    } finally {
      await held.release()
      await impatient.close()
    }
  })

  test('cannot be written to, and ends with its work', async () => {
    await expect(withSnapshot(database.db, (snapshot) => snapshot.query('delete from r1_test_person'))).rejects.toThrow(
      'cannot execute DELETE in a read-only transaction',
    )
    const { rows } = await database.db.pool.query(
      `select count(*) as open from pg_stat_activity where datname = current_database() and state like 'idle in%'`,
    )
    expect(rows[0].open).toBe(0)
  })
})
