import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RecordQuery, SearchTimeout } from '@rollcall/core/model/record-source'
import type { FoundRecord, Identifier, SearchPageRequest, SortKey } from '@rollcall/core/model/records'
import { openDatabase } from '@rollcall/database/database'
import { KINDS, type Kind, type RecordType } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { findMatchingRecords, readerInTransaction, recordSourceOfOwnTables, statementRunnersByMode } from './own-records.ts'
import { ensureRecordTables, recordTable } from './record-tables.ts'
import { groupedLookUpsStatement, lookUpStatement, type SqlCondition, searchStatement } from './search-statement.ts'
import { predicateToSql } from './sql/to-sql.ts'

const RECORDS = 5_000
const PHONES = 250

const [civil] = KINDS as readonly [Kind, ...Kind[]]
const recordType: RecordType = {
  ...civil.record_types[0],
  name: 'TestPerson',
  attributes: [
    { name: 'surname', paths: ['surname'], type: 'text', sortable: true },
    { name: 'born', paths: ['born'], type: 'date', sortable: true },
    { name: 'secret', paths: ['secret'], type: 'text' },
  ],
}
const registry = { id: 1, kind: { ...civil, record_types: [recordType] as const } }
const table = recordTable(registry, recordType)

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  const { db } = database
  await ensureRecordTables(db, registry)
  // Every 20th record has no surname; births run against the order of the ids.
  await db.pool.query(
    `insert into r1_test_person (primary_identifier, document, surname, born_from, born_to)
     select 'U' || n, '{"n":' || n || '}', case when n % 20 > 0 then 'S' || n % 3 end,
       date '2000-01-01' - n, date '2000-12-31'
     from generate_series(1, $1::int) as n order by n`,
    [RECORDS],
  )
  await db.pool.query(
    `insert into r1_test_person_identifier
     select 'UIN', primary_identifier, id, true from r1_test_person
     union all select 'MOBILE', '+' || id % $1::int, id, id % 2 = 0 from r1_test_person`,
    [PHONES],
  )
  await db.pool.query('analyze')
})
afterAll(() => database.close())

const numbers = (records: readonly FoundRecord[]): number[] => records.map(({ document }) => JSON.parse(document).n)

function find(value: string, page: Partial<SearchPageRequest> = {}, type = 'MOBILE') {
  return recordSourceOfOwnTables(database.db)
    .reader('sync')
    .find(registry, {
      recordType,
      predicate: { is: 'identifier', identifiers: [{ type, value }] },
      page: { sort: [], limit: 10, offset: 0, cap: 100, ...page },
    })
}

test('one record, its text as it was stored', async () => {
  expect(await find('U42', {}, 'UIN')).toEqual({ total: 1, records: [{ id: '42', document: '{"n":42}' }], ids: [] })
})

test('several records, in the order they were added, as its own or as a part’s identifier', async () => {
  const { total, records } = await find('+7', { limit: 3, offset: 2 })
  expect(total).toBe(RECORDS / PHONES)
  expect(numbers(records)).toEqual([507, 757, 1007])
})

test.each([
  [18, 2],
  [20, 0],
  [2_147_483_647, 0],
])('the total is true from record %i on', async (offset, length) => {
  const { total, records } = await find('+7', { offset })
  expect(total).toBe(20)
  expect(records).toHaveLength(length)
})

test.each(['', '+', '%', "' or true --", '+7\0', '\ud800', '$1', 'x'.repeat(10_000)])('nobody bears %j', async (value) => {
  expect(await find(value)).toEqual({ total: 0, records: [], ids: [] })
})

test('a value of another type is another identifier', async () => {
  expect(await find('U42', {}, 'MOBILE')).toEqual({ total: 0, records: [], ids: [] })
})

test('counting stops one above the cap', async () => {
  expect((await find('+7', { cap: 20 })).total).toBe(20)
  expect((await find('+7', { cap: 19 })).total).toBe(20)
  const { total, records } = await find('+7', { cap: 3, limit: 2 })
  expect(total).toBe(4)
  expect(numbers(records)).toEqual([7, 257])
})

test('look-ups at one time share statements of 32 at most, and each finds its own page', async () => {
  const asked = Array.from({ length: 100 }, (_, n) => {
    const [type, value] = n % 2 === 0 ? ['UIN', `U${n}`] : ['MOBILE', `+${n % 20}`]
    const page = { sort: [], limit: 1 + (n % 4), offset: n % 3, cap: 5 + n, ids: n }
    const categories = n % 5 === 0 ? ['sealed', 'shelter'] : []
    return { recordType, predicate: { is: 'identifier', identifiers: [{ type, value }] }, page: { ...page, categories } } as const
  })
  const { pipeline, pool, statementNames } = database.db
  const statements = vi.spyOn(pipeline, 'query')
  const { find } = recordSourceOfOwnTables(database.db).reader('sync')
  const found = await Promise.all(asked.map((query) => find(registry, query)))
  expect(statements).toHaveBeenCalledTimes(4)
  statements.mockRestore()
  const alone = readerInTransaction(pool, statementNames)
  for (const [at, query] of asked.entries()) expect(found[at]).toEqual(await alone.find(registry, query))
  expect(new Set(found.map(({ total }) => total)).size).toBeGreaterThan(5)
})

test('look-ups that wait behind one that is not answered in time fail with it, and may be asked again', async () => {
  const hasty = openDatabase({ ...database.connection, statement_timeout: 300 })
  const statements = vi.spyOn(hasty.pipeline, 'query')
  const { find } = recordSourceOfOwnTables(hasty).reader('sync')
  const identifiers = [{ type: 'UIN', value: 'U42' }]
  const query = { recordType, predicate: { is: 'identifier', identifiers }, page: { sort: [], limit: 1, offset: 0, cap: 9 } }
  const holder = await database.db.pool.connect()
  await holder.query(`begin; lock table ${table.identifierTable} in access exclusive mode`)
  const failed = await Promise.allSettled(Array.from({ length: 100 }, () => find(registry, query as RecordQuery)))
  expect(statements).toHaveBeenCalledTimes(1)
  for (const one of failed) expect(one).toMatchObject({ status: 'rejected', reason: expect.any(SearchTimeout) })
  await holder.query('rollback')
  holder.release()
  expect((await find(registry, query as RecordQuery)).total).toBe(1)
  await hasty.close()
})

const findRecords = (condition: SqlCondition, page: SearchPageRequest) =>
  findMatchingRecords(statementRunnersByMode(database.db).sync, table, condition, page)

describe('by any condition', () => {
  const from = (surname: string) => ({ text: 'record.surname = $1', values: [surname] })
  const all = { sort: [], limit: 3, offset: 0, cap: 10_000 }

  test('a page in the order in which records were added, and how many there are', async () => {
    const { total, records } = await findRecords(from('S1'), { ...all, offset: 1 })
    expect(total).toBe(1_584)
    expect(numbers(records)).toEqual([4, 7, 10])
  })

  test('none', async () => {
    expect(await findRecords(from('nobody'), all)).toEqual({ total: 0, records: [], ids: [] })
  })

  test('a page beyond the last is empty, and the total is true', async () => {
    const found = await findRecords(from('S1'), { ...all, offset: 5_000 })
    expect(found).toEqual({ total: 1_584, records: [], ids: [] })
  })

  test('counting stops one above the cap', async () => {
    expect((await findRecords(from('S1'), { ...all, cap: 1_584 })).total).toBe(1_584)
    expect((await findRecords(from('S1'), { ...all, cap: 1_583 })).total).toBe(1_584)
    expect((await findRecords(from('S1'), { ...all, cap: 7 })).total).toBe(8)
    await expect(findRecords(from('S1'), { ...all, cap: 1.5 })).rejects.toThrow('not a number of records: 1.5')
  })

  test('in an order, missing values last', async () => {
    const sort = [
      { attribute: 'surname', descending: true },
      { attribute: 'born', descending: false },
    ]
    const some = { text: 'record.id <= $1::bigint', values: [21] }
    const { records } = await findRecords(some, { ...all, limit: 100, sort })
    const surnameOf = (n: number) => (n % 20 > 0 ? n % 3 : -1)
    const expected = Array.from({ length: 21 }, (_, index) => index + 1).toSorted((a, b) => surnameOf(b) - surnameOf(a) || b - a)
    expect(numbers(records)).toEqual(expected)
  })

  test('by what is not sortable is an error', async () => {
    const sort = [{ attribute: 'secret', descending: false }]
    await expect(findRecords(from('S1'), { ...all, sort })).rejects.toThrow('TestPerson cannot be sorted by secret')
  })

  test('a shape that comes again is prepared, for other values, pages and no longer than it lasts', async () => {
    for (const surname of ['S0', 'S1', 'S2', 'S1', 'S0']) {
      const { total, records } = await findRecords(from(surname), all)
      expect(total).toBeGreaterThan(1_500)
      expect(numbers(records).map((n) => `S${n % 3}`)).toEqual([surname, surname, surname])
    }
    const { rows } = await database.db.searches.query('select name from pg_prepared_statements')
    expect(rows.every(({ name }) => /^search_\d+$|^find_r1_test_person/.test(name))).toBe(true)
    expect(rows.length).toBeGreaterThan(0)
  })
})

describe('sort', () => {
  test('by the first day of a date', async () => {
    const sort = [{ attribute: 'born', descending: false }]
    expect(numbers((await find('+7', { sort, limit: 2 })).records)).toEqual([4757, 4507])
    const down = [{ attribute: 'born', descending: true }]
    expect(numbers((await find('+7', { sort: down, limit: 2 })).records)).toEqual([7, 257])
  })

  test.each([false, true])('missing values last, ties in the order they were added (descending: %s)', async (descending) => {
    // Numbers 20, 270 ...: of every two one is without a surname.
    const { records } = await find('+20', { sort: [{ attribute: 'surname', descending }], limit: 100 })
    const surnameOf = (n: number) => (n % 20 > 0 ? `S${n % 3}` : null)
    const all = Array.from({ length: 20 }, (_, index) => 20 + index * PHONES)
    const direction = descending ? -1 : 1
    const expected = all.toSorted((a, b) => {
      const [x, y] = [surnameOf(a), surnameOf(b)]
      if (x === y) return a - b
      if (x === null) return 1
      if (y === null) return -1
      return x < y ? -direction : direction
    })
    expect(numbers(records)).toEqual(expected)
    expect(expected.filter((n) => surnameOf(n) === null)).toHaveLength(10)
  })

  test('by several attributes', async () => {
    const sort = [
      { attribute: 'surname', descending: true },
      { attribute: 'born', descending: false },
    ]
    const { total, records } = await find('+7', { sort, limit: 3 })
    expect(total).toBe(20)
    expect(numbers(records)).toEqual([4757, 4007, 3257])
    expect(numbers(records).map((n) => n % 3)).toEqual([2, 2, 2])
  })

  test.each(['secret', 'nothing', 'id', 'document', 'born_from'])('by %s is an error', async (attribute) => {
    await expect(find('+7', { sort: [{ attribute, descending: false }] })).rejects.toThrow(
      `TestPerson cannot be sorted by ${attribute}`,
    )
  })
})

describe('the statement', () => {
  const born = { attribute: 'born', descending: true }
  const surname = { attribute: 'surname', descending: false }
  const page: SearchPageRequest = { sort: [], limit: 10, offset: 0, cap: 100 }
  const statementOf = (identifier: Identifier, sort: readonly SortKey[]) =>
    sort.length === 0
      ? lookUpStatement(table, identifier, page)
      : searchStatement(table, predicateToSql({ is: 'identifier', identifiers: [identifier] }, table), { ...page, sort })

  test('of a look-up has one name for each table, below the length at which PostgreSQL cuts', () => {
    const long = { ...recordType, name: `Long${'x'.repeat(80)}` }
    const tables = [table, ...[1, 2].map((id) => recordTable({ ...registry, id }, long))]
    const names = tables.map((one) => lookUpStatement(one, { type: 'UIN', value: 'U1' }, page).name)
    expect(names[0]).toBe('find_r1_test_person')
    expect(new Set(names).size).toBe(3)
    for (const name of names) expect(name.length).toBeLessThanOrEqual(63)
  })

  test.each([
    ['UIN', 'U42', []],
    ['MOBILE', '+7', []],
    ['MOBILE', '+7', [born]],
    ['MOBILE', '+7', [born, surname]],
  ] as const)('reads indexes only, also with a plan for any values: %s %s %j', async (type, value, sort) => {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const plan = await planOf(statementOf({ type, value }, sort), mode)
      expect(plan).not.toContain('Seq Scan')
      expect(plan).toMatch(/Index Only Scan using r1_test_person_identifier_pkey/)
      expect(plan).toMatch(/Index Scan using r1_test_person_pkey/)
    }
  })

  test('reads indexes also when it was planned while the registry was empty', async () => {
    const empty = { ...registry, id: 2 }
    await ensureRecordTables(database.db, empty)
    const statement = lookUpStatement(recordTable(empty, recordType), { type: 'UIN', value: 'U1' }, page)
    expect(await planOf(statement, 'force_generic_plan')).not.toContain('Seq Scan')
  })

  test('of many look-ups reads indexes only', async () => {
    const asked = { identifier: { type: 'UIN', value: 'U1' }, page: { ...page, categories: ['sealed'] } }
    const plan = await planOf(groupedLookUpsStatement(table, [asked, asked]), 'force_generic_plan')
    expect(plan).not.toContain('Seq Scan')
    expect(plan).toMatch(/Index Only Scan using r1_test_person_identifier_pkey/)
    expect(plan).toMatch(/Index Scan using r1_test_person_pkey/)
  })
})

test('a participant that sends many shapes twice takes no names from others, and fills no connection', async () => {
  const { sync } = statementRunnersByMode(database.db)
  const page: SearchPageRequest = { sort: [], limit: 1, offset: 0, cap: 10 }
  const find = (text: string, participant: number) =>
    findMatchingRecords(sync, table, { text: `record.id = $1::bigint and ${text}`, values: [1] }, page, participant)
  const [others, many] = [7, 8]
  const mine = 'record.id <> -121'
  await find(mine, others)
  await find(mine, others)
  for (let n = 0; n < 450; n += 1) {
    const shape = `record.id <> -${1_000 + n}`
    await find(shape, many)
    await find(shape, many)
    const { rows } = await database.db.searches.query<{ count: number }>(
      "select count(*)::int as count from pg_prepared_statements where name like 'search%'",
    )
    expect(rows[0]?.count).toBeLessThan(200)
  }
  expect(
    database.db.statementNames.nameOf(
      searchStatement(table, { text: `record.id = $1::bigint and ${mine}`, values: [1] }, page).text,
      others,
    ),
  ).toMatch(/^search_\d+$/)
})

test('a shape that was slow under its name three times is not run under it again', async () => {
  const slow = { text: 'record.id = $1::bigint and record.id <> -120', values: [1] }
  let clock = 0
  const connections = statementRunnersByMode(database.db, () => {
    clock += 120
    return clock
  }).sync
  const runs: number[] = []
  for (let run = 0; run < 6; run += 1) {
    const { total } = await findMatchingRecords(connections, table, slow, { sort: [], limit: 1, offset: 0, cap: 10 })
    expect(total).toBe(1)
    const { rows } = await database.db.searches.query<{ runs: number }>(
      `select coalesce(sum(generic_plans + custom_plans), 0)::int as runs from pg_prepared_statements
       where statement like '%record.id <> -120%'`,
    )
    runs.push(rows[0]?.runs ?? 0)
  }
  // The first time it has no name yet; three times it was slow under it.
  expect(runs).toEqual([0, 1, 2, 3, 3, 3])
})

test('the time for which a search waits for a connection says nothing of its plan', async () => {
  const shape = { text: 'record.id = $1::bigint and record.id <> -122', values: [1] }
  const page: SearchPageRequest = { sort: [], limit: 1, offset: 0, cap: 10 }
  let clock = 0
  const { sync } = statementRunnersByMode(database.db, () => clock)
  const { searches, statementNames } = database.db
  await findMatchingRecords(sync, table, shape, page)
  for (let run = 0; run < 4; run += 1) {
    const all = await Promise.all(Array.from({ length: searches.options.max }, () => searches.connect()))
    const waiting = findMatchingRecords(sync, table, shape, page)
    clock += 1_000
    for (const client of all) client.release()
    await waiting
  }
  expect(statementNames.nameOf(searchStatement(table, shape, page).text, 0)).toMatch(/^search_\d+$/)
})

async function planOf(
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
  mode: string,
): Promise<string> {
  const client = await database.db.pool.connect()
  try {
    await client.query(`set plan_cache_mode = ${mode}`)
    await client.query(`prepare explained as ${text}`)
    const given = values.map((value) => {
      if (Array.isArray(value)) return `'{${value.join()}}'`
      return typeof value === 'number' ? value : `'${value}'`
    })
    const { rows } = await client.query(`explain (costs off) execute explained (${given.join(', ')})`)
    // Protected persons are few: their table is a page or two.
    return rows.map((row) => row['QUERY PLAN'].replace('Seq Scan on protected_record', '')).join('\n')
  } finally {
    client.release(true)
  }
}

test('no sub-select has an empty select list, which some distributed databases refuse', () => {
  const room = import.meta.dirname
  for (const file of globSync('**/*.ts', { cwd: room }).filter((name) => !name.endsWith('.test.ts'))) {
    expect(readFileSync(join(room, file), 'utf8'), file).not.toMatch(/select\s+from\b/)
  }
})
