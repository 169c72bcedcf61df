import { expect, test } from 'vitest'
import { documentBuilder, readColumnMapping } from './column-mapping.ts'
import { ImportError } from './source.ts'

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
  [['a'], 'the column mapping must be a JSON object such as {"Given name": "name.given_name"}'],
  [null, 'the column mapping must be a JSON object such as {"Given name": "name.given_name"}'],
  [{}, 'the column mapping is empty; name at least one column'],
  [{ A: 7 }, 'the column mapping of A must be a path such as name.given_name or identifier[UIN]'],
  [{ A: '' }, 'the column mapping of A must be a path such as name.given_name or identifier[UIN]'],
  [{ A: 'a..b' }, 'the column mapping of A must be a path such as name.given_name or identifier[UIN]'],
  [{ A: 'a[]' }, 'the column mapping of A must be a path such as name.given_name or identifier[UIN]'],
  [{ A: '__proto__.x' }, 'the column mapping of A must be a path such as name.given_name or identifier[UIN]'],
  [{ A: 'x', B: 'x' }, 'the column mapping has the same path for A and B, or one path inside the other'],
  [
    { A: 'name', B: 'name.given_name' },
    'the column mapping has the same path for A and B, or one path inside the other',
  ],
  [
    { A: 'identifier', B: 'identifier[UIN]' },
    'the column mapping has the same path for A and B, or one path inside the other',
  ],
  [
    { A: 'identifier[UIN]', B: 'identifier.x' },
    'the column mapping has the same path for A and B, or one path inside the other',
  ],
])('mapping %j is refused', (mapping, reason) => {
  expect(() => readColumnMapping(mapping)).toThrow(new ImportError(reason))
})

test.each([
  [['B'], 'the file has no column A, which the column mapping names; compare it with the header line'],
  [['A', 'A'], 'the file has more than one column A; rename the others in its header line'],
])('header %j is refused', (header, reason) => {
  expect(() => documentBuilder(readColumnMapping({ A: 'a' }), header)).toThrow(new ImportError(reason))
})
