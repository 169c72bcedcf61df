import { expect, test } from 'vitest'
import { printableJson, toPrintableLine } from './printing.ts'

test('what a terminal would obey is seen instead', () => {
  expect(toPrintableLine('a\u001b[2Jb\nc\u009bd\u202ee')).toBe('a\\u001b[2Jb\\u000ac\\u009bd\\u202ee')
  expect(toPrintableLine('Ñandú 王')).toBe('Ñandú 王')
})

test('a value stays the same value', () => {
  const value = { name: 'a\u009b\u2066b\n', list: [1, 2 ** 64] }
  const text = printableJson(value)
  expect(text.split('\n')).toEqual([
    '{',
    '  "name": "a\\u009b\\u2066b\\n",',
    '  "list": [',
    '    1,',
    '    18446744073709552000',
    '  ]',
    '}',
  ])
  expect(JSON.parse(text).name).toBe(value.name)
})
