import { expect, test } from 'vitest'
import { documentBuilder, readColumnMapping } from './column-mapping.ts'
import { ImportError } from './entry.ts'

test('cells go where their paths say, empty ones nowhere', () => {
  const mapping = readColumnMapping({
    No: 'identifier[UIN]',
    'Birth no': 'identifier[BRN]',
    Given: 'name.given_name',
    Family: 'name.family_name',
    Type: '@type',
    Odd: 'constructor',
  })
  const build = documentBuilder(mapping, ['Given', ' No ', 'Unused', 'Family', 'Birth no', 'Type', 'Odd'])
  expect(build(['Asha', '0012', 'x', ' ', 'B-7', 'Person', 'c'])).toEqual({
    identifier: [
      { identifier_type: 'UIN', identifier_value: '0012' },
      { identifier_type: 'BRN', identifier_value: 'B-7' },
    ],
    name: { given_name: 'Asha' },
    '@type': 'Person',
    constructor: 'c',
  })
  expect(build(['', '', '', '', '', '', ''])).toEqual({})
})

test.each([
  [['a'], 'the column mapping is not a JSON object of column: path'],
  [null, 'the column mapping is not a JSON object of column: path'],
  [{}, 'the column mapping is empty'],
  [{ A: 7 }, 'the column mapping of A is not a path such as name.given_name or identifier[UIN]'],
  [{ A: '' }, 'the column mapping of A is not a path such as name.given_name or identifier[UIN]'],
  [{ A: 'a..b' }, 'the column mapping of A is not a path such as name.given_name or identifier[UIN]'],
  [{ A: 'a[]' }, 'the column mapping of A is not a path such as name.given_name or identifier[UIN]'],
  [{ A: '__proto__.x' }, 'the column mapping of A is not a path such as name.given_name or identifier[UIN]'],
  [{ A: 'x', B: 'x' }, 'the column mapping sends A and B to the same place'],
  [{ A: 'name', B: 'name.given_name' }, 'the column mapping sends A and B to the same place'],
  [{ A: 'identifier', B: 'identifier[UIN]' }, 'the column mapping sends A and B to the same place'],
  [{ A: 'identifier[UIN]', B: 'identifier.x' }, 'the column mapping sends A and B to the same place'],
])('mapping %j is refused', (mapping, reason) => {
  expect(() => readColumnMapping(mapping)).toThrow(new ImportError(reason))
})

test.each([
  [['B'], 'the source has no column A'],
  [['A', 'A'], 'the source has more than one column A'],
])('header %j is refused', (header, reason) => {
  expect(() => documentBuilder(readColumnMapping({ A: 'a' }), header)).toThrow(new ImportError(reason))
})
