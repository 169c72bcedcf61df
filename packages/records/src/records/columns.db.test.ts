import type { Attribute, AttributeValue } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { attributeColumns } from './columns.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const attribute = (type: Attribute['type'], many?: true): Attribute => ({ name: 'a', paths: ['a'], type, ...(many && { many }) })

test.each([
  ['text', ['a text collate "C"']],
  ['code', ['a text collate "C"']],
  ['date', ['a_from date', 'a_to date']],
  ['datetime', ['a timestamp with time zone']],
  ['number', ['a double precision']],
  ['boolean', ['a boolean']],
] as const)('columns of a %s', (type, expected) => {
  const single = attributeColumns(attribute(type))
  expect(single.map((column) => `${column.name} ${column.definition}`)).toEqual(expected)
  const many = attributeColumns(attribute(type, true))
  expect(many.map((column) => column.sql_type)).toEqual(single.map((column) => `${column.sql_type}[]`))
})

const nasty = ['', 'NULL', 'a,b', '{x}', '"quoted"', 'back\\slash', " '; -- ", 'tab\tnew\nline', 'é𝄞', '\\N']

const VALUES: readonly (readonly [Attribute, AttributeValue, readonly unknown[]])[] = [
  ...nasty.map((text) => [attribute('text'), text, [text]] as const),
  [attribute('text', true), nasty, [nasty]],
  [attribute('text', true), [], [[]]],
  [attribute('code', true), ['female', 'male'], [['female', 'male']]],
  [attribute('date'), { from: '1985-01-01', to: '1985-12-31' }, ['1985-01-01', '1985-12-31']],
  [
    attribute('date', true),
    [
      { from: '1985-06-01', to: '1985-06-30' },
      { from: '2004-02-29', to: '2004-02-29' },
    ],
    [
      ['1985-06-01', '2004-02-29'],
      ['1985-06-30', '2004-02-29'],
    ],
  ],
  [attribute('datetime'), '2026-02-03T09:15:00.123+02:00', [new Date('2026-02-03T07:15:00.123Z')]],
  [attribute('boolean'), false, [false]],
  [attribute('boolean', true), [true, false], [[true, false]]],
  ...[0, -1, 0.1, 1e-7, 3.4e300, 5e-324, Number.MAX_SAFE_INTEGER].map(
    (number) => [attribute('number'), number, [number]] as const,
  ),
  [attribute('number', true), [0.1, 1e21], [[0.1, 1e21]]],
]

test.each(VALUES)('%o holds %o as it is', async (asked, value, expected) => {
  const columns = attributeColumns(asked)
  const casts = columns.map((column, index) => `$${index + 1}::${column.sql_type} as c${index}`)
  const { rows } = await database.db.pool.query({
    text: `select ${casts.join(', ')}`,
    values: columns.map((column) => column.toSql(value)),
    rowMode: 'array',
  })
  expect(rows[0]).toEqual(expected)
})

test('a missing value is null in every column', () => {
  expect(attributeColumns(attribute('date')).map((column) => column.toSql(null))).toEqual([null, null])
  expect(attributeColumns(attribute('text', true)).map((column) => column.toSql(null))).toEqual([null])
})

test('a date that is not an interval is an error of ours', () => {
  const [from] = attributeColumns(attribute('date'))
  expect(() => from?.toSql('1985-06-01')).toThrow('a date attribute holds an interval of days')
})
