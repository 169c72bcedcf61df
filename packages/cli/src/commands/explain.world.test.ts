import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env, home } = await commandDatabase()
await rollcallJson(['registry', 'add', 'civil'], env)
await rollcallJson(['registry', 'add', 'social'], env)

const explain = (input: unknown, ...words: string[]) => rollcall(['explain', 'civil', '-', ...words], env, JSON.stringify(input))

const QUERY = { sex: 'female', birth_date: { $lt: '1961-03-04' } }

test('tree, SQL, plan, cost and missing indexes, without what is looked for', async () => {
  const { code, stdout, stderr } = await explain({ sex: 'female' })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Asked of Person\n {2}sex eq \?\n\nSQL\n {2}with hit as/)
  expect(stdout).toContain('where (record."sex" = $1)')
  expect(stdout).toMatch(/\n\nPlan\n {2}\w.*\(cost=/)
  expect(stdout).toMatch(/\n\nCost\n {2}[\d.]+\n/)
  expect(stdout).toMatch(/\n\nIndexes\n {2}sex has no index: rollcall attribute index civil Person sex\n$/)
  expect(stdout).not.toMatch(/female/i)
  expect(stdout).not.toContain('actual')
})

test('with --values and --analyze it shows them and runs', async () => {
  const { stdout } = await explain(QUERY, '--values', '--analyze')
  expect(stdout).toContain('1961-03-04')
  expect(stdout).toMatch(/\n\nValues\n {2}\$1 {2}"/)
  expect(stdout).toMatch(/\(actual .*rows=/)
  expect(stdout).toMatch(/Indexes\n {2}none is missing\n$/)
})

test.each<[string, unknown]>([
  ['a query alone', QUERY],
  ['search_criteria', { query_type: 'expression', query: QUERY }],
  ['an item', { search_criteria: { query_type: 'expression', query: QUERY } }],
  [
    'a whole request, its first item',
    {
      signature: 'x',
      header: {},
      message: {
        search_request: [{ search_criteria: { query_type: 'expression', query: QUERY } }, { search_criteria: 'other' }],
      },
    },
  ],
  [
    'an expression list',
    [
      { seq_num: 1, expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'female' } },
      { seq_num: 2, expression1: { attribute_name: 'birth_date', operator: 'lt', attribute_value: '1961-03-04' } },
    ],
  ],
  ['GraphQL', '{ Person(sex: "female", birth_date: {lt: "1961-03-04"}) { sex } }'],
])('%s is taken', async (_, input) => {
  const { stdout } = await explain(input, '--json', '--values')
  const explained = JSON.parse(stdout)
  expect(explained).toMatchObject({ record_type: 'Person', advice: [] })
  expect(explained.tree).toMatch(/^and\n {2}sex eq "[^"]+"\n {2}birth_date lt .*1961-03-04/)
  expect(explained.plan.json.Plan['Total Cost']).toBe(explained.cost)
})

test('a file, and a record type for a query alone', async () => {
  const path = join(home.path, 'query.json')
  await writeFile(path, JSON.stringify({ registration_date: { $gte: '2020' } }))
  const words = ['explain', 'social', path, '--record-type', 'Group']
  const explained = await rollcallJson(words, env)
  expect(explained).toMatchObject({ record_type: 'Group', values: null })
})

test('an identifier type that the operator added is explained, by its name and its alias', async () => {
  const words = ['identifier-type', 'add', 'civil', 'CEDULA', '--alias', 'id_card', '--pattern', '[0-9]{8,10}']
  await rollcallJson(words, env)
  for (const name of ['CEDULA', 'id_card']) {
    const query = { query_type: 'idtype-value', query: { type: name, value: '12345678' } }
    const { code, stdout, stderr } = await explain(query)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Asked of Person\n {2}.*CEDULA.*\n/)
    expect(stdout).toMatch(/Indexes\n {2}none is missing\n$/)
    expect(stdout).not.toContain('12345678')
  }
})

test('a declared index that is not there is told with what builds it', async () => {
  await database.db.pool.query('drop index r1_person_birth_date_index')
  const { stdout } = await explain(QUERY)
  expect(stdout).toContain('birth_date has an index that is declared and not built: rollcall index apply civil\n')
  await rollcallJson(['index', 'apply', 'civil'], env)
})

test.each<[string, readonly string[], string, string]>([
  ['what is not JSON', ['-'], '{', 'standard input is not JSON: '],
  ['a file that is not there', ['/nowhere'], '', 'the file /nowhere cannot be read: no such file or directory'],
  ['a request without an item', ['-'], '{"search_request": []}', 'search_request has no item'],
  ['what a server would reject', ['-'], '{"sehx": "female"}', 'rjct.search_criteria.invalid: search_criteria.query'],
  [
    'a page that is no object',
    ['-'],
    '{"query_type": "expression", "query": {"sex": "female"}, "pagination": "x"}',
    'rjct.pagination.invalid: search_criteria.pagination: must be {page_size, page_number}, whole numbers from 1',
  ],
  [
    'a page without a size',
    ['-'],
    '{"query_type": "expression", "query": {"sex": "female"}, "pagination": {}}',
    'rjct.pagination.invalid: search_criteria.pagination: must be {page_size, page_number}, whole numbers from 1',
  ],
  [
    'a page of less than one record',
    ['-'],
    '{"query_type": "expression", "query": {"sex": "female"}, "pagination": {"page_size": 0}}',
    'rjct.pagination.invalid: search_criteria.pagination: must be {page_size, page_number}, whole numbers from 1',
  ],
  [
    'half a page',
    ['-'],
    '{"query_type": "expression", "query": {"sex": "female"}, "pagination": {"page_size": 1.5}}',
    'rjct.pagination.invalid: search_criteria.pagination: must be {page_size, page_number}, whole numbers from 1',
  ],
  [
    'a page before the first',
    ['-'],
    '{"query_type": "expression", "query": {"sex": "female"}, "pagination": {"page_size": 5, "page_number": -1}}',
    'rjct.pagination.invalid: search_criteria.pagination: must be {page_size, page_number}, whole numbers from 1',
  ],
])('%s: exit code 1, one line, no value', async (_, words, input, message) => {
  const { code, stdout, stderr } = await rollcall(['explain', 'civil', ...words], env, input)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`rollcall: ${message}`)
  expect(stderr).not.toContain('female')
  expect(stderr.trimEnd()).not.toContain('\n')
})

test('what is being backfilled cannot be asked about', async () => {
  await database.db.pool.query(`insert into column_fill (registry, record_type, name) values (1, 'Person', 'sex')`)
  const { code, stderr } = await explain(QUERY)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'rollcall: rjct.search_criteria.invalid: search_criteria.query: sex is being backfilled and cannot be searched yet\n',
  })
  await database.db.pool.query('delete from column_fill')
})
