import { expect, test } from 'vitest'
import { ROW_SQL } from './row-sql.ts'

test.each<[string, string | null, unknown]>([
  [
    'all rows',
    '2 ["A",null],["B","x"]',
    [
      ['A', null],
      ['B', 'x'],
    ],
  ],
  ['no row', '0 ', []],
  ['a text longer than a packet, of which nothing comes', null, null],
  ['a list that was cut within a row', '2 ["A",null],["B', null],
  ['a list that was cut between two rows', '2 ["A",null]', null],
  ['more rows than a record may have', '1001 ', null],
])('rows of a child: %s', (_, text, rows) => {
  expect(ROW_SQL.readChildRows(text)).toEqual(rows)
})
