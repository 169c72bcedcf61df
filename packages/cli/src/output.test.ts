import { expect, test } from 'vitest'
import { table } from './output.ts'

test('a table has its columns in line, and says so where it has no rows', () => {
  const rows = [
    { name: 'civil', records: 2_000, demo: true, alias: null },
    { name: 'a longer name', records: 0, demo: false, alias: 'x' },
  ]
  expect(table(['name', 'records', 'demo', 'alias'], rows, 'nothing')).toBe(
    [
      'name           records  demo  alias',
      'civil          2000     yes   -',
      'a longer name  0        no    x',
    ].join('\n'),
  )
  expect(table(['name'], [], 'nothing')).toBe('nothing')
})
