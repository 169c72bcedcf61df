import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import { KINDS } from '../kinds/index.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import { readAttribute } from './read-attribute.ts'
import { readLiteral } from './read-literal.ts'

function literal(type: AttributeType, raw: JsonValue, more: Partial<Attribute> = {}) {
  return readLiteral({ name: 'a', paths: ['a'], type, ...more }, raw)
}

describe('a datetime', () => {
  it.each<[JsonValue, string, string]>([
    ['2024', '2024-01-01T00:00:00.000Z', '2024-12-31T23:59:59.999Z'],
    [2024, '2024-01-01T00:00:00.000Z', '2024-12-31T23:59:59.999Z'],
    ['2024-02', '2024-02-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
    ['2024-06-30', '2024-06-30T00:00:00.000Z', '2024-06-30T23:59:59.999Z'],
    ['30.06.2024', '2024-06-30T00:00:00.000Z', '2024-06-30T23:59:59.999Z'],
    ['2024-06-30T00:00:00Z', '2024-06-30T00:00:00.000Z', '2024-06-30T00:00:00.000Z'],
    ['2024-06-30T00:30+01:00', '2024-06-29T23:30:00.000Z', '2024-06-29T23:30:00.000Z'],
  ])('%j is from %s to %s', (raw, from, to) => {
    expect(literal('datetime', raw)).toEqual({ from, to })
  })

  it.each([['2024-02-30'], ['soon'], [''], [1700000000], [true], [null], [{}]])('%j is none', (raw) => {
    expect(literal('datetime', raw)).toBeNull()
  })
})

describe('an age', () => {
  it.each<[JsonValue, number]>([
    [0, 0],
    ['18', 18],
    ['1.8e1', 18],
    [1000, 1000],
  ])('%s is %s', (raw, years) => {
    expect(literal('age', raw, { since: 'birth_date' })).toBe(years)
  })

  it.each<[JsonValue]>([[-1], [17.5], [1001], ['old'], ['NaN'], [''], [null], [true], ['29.99999999999999999999']])(
    '%s is none',
    (raw) => {
      expect(literal('age', raw, { since: 'birth_date' })).toBeNull()
    },
  )
})

it.each<[AttributeType, JsonValue, Partial<Attribute>, unknown]>([
  ['text', 'O\u0308LC\u0327ER', { fold: true }, 'olcer'],
  ['text', 1001, {}, '1001'],
  ['code', 'FeMale', { codes: 'sex' }, 'female'],
  ['date', '02.05.2004', {}, { from: '2004-05-02', to: '2004-05-02' }],
  ['date', 1985, {}, { from: '1985-01-01', to: '1985-12-31' }],
  ['number', '3.50', {}, 3.5],
  ['number', ' 1e2 ', {}, 100],
  ['number', '9007199254740992', {}, 9007199254740992],
  ['boolean', '0', {}, false],
  ['text', true, {}, null],
  ['number', 'NaN', {}, null],
  ['boolean', 'yes', {}, null],
])('%s reads %j as records are read', (type, raw, more, value) => {
  expect(literal(type, raw, more)).toEqual(value)
})

it.each(['9007199254740993', '9007199254740993.0', '0.12345678901234567890', '1e-400', '1e400'])(
  'a query cannot compare with %s, which would be another number',
  (raw) => {
    expect(literal('number', raw)).toBeNull()
  },
)

it('what a record holds, asked for as it is read, is what is compared with', () => {
  const attributes = KINDS.flatMap(({ record_types }) =>
    record_types.flatMap((type) => [...type.attributes, ...(type.compounds ?? []).flatMap(({ members }) => members)]),
  )
  const raw = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer({ min: -10, max: 3000 }),
    fc.double(),
    fc.bigInt().map(String),
    fc.boolean(),
    fc.constantFrom<JsonValue>('F', 'Active', '1985', '2014-06-01T04:10:00+05:00', '12.06.1970'),
  )
  fc.assert(
    fc.property(fc.constantFrom(...attributes), raw, (attribute, value) => {
      const held = readAttribute({ ...attribute, paths: ['a'] }, { a: value })
      for (const scalar of Array.isArray(held) ? held : [held]) {
        if (scalar === null) continue
        const asked = typeof scalar === 'object' ? readLiteral(attribute, value) : readLiteral(attribute, scalar)
        const expected = attribute.type === 'datetime' ? { from: scalar, to: scalar } : scalar
        expect(asked).toEqual(expected)
      }
    }),
    { numRuns: 2000 },
  )
})
