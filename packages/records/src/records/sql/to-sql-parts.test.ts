import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstTextAfterPrefix, ParameterList, toStorableBound } from './to-sql-parts.ts'

test('values are parameters in the order of their places', () => {
  const values = new ParameterList()
  expect([values.add('a'), values.add(2, 'double precision'), values.add(['b'], 'text[]')]).toEqual([
    '$1',
    '$2::double precision',
    '$3::text[]',
  ])
  expect(values.list).toEqual(['a', 2, ['b']])
})

test.each([
  ['a', 'b'],
  ['az', 'a{'],
  ['a\u{10ffff}', 'b'],
  ['\u{10ffff}\u{10ffff}', null],
  ['a\ud7ff', 'a\ue000'],
  ['é', 'ê'],
  ['😀', '😁'],
  ['', null],
])('behind all that start with %j lies %j', (prefix, behind) => {
  expect(firstTextAfterPrefix(prefix)).toBe(behind)
})

const points = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0) ?? 0)

/** -1, 0 or 1, by code point. */
function compare(one: string, other: string): number {
  const [a, b] = [points(one), points(other)]
  const at = a.findIndex((point, index) => point !== b[index])
  if (at === -1) return Math.sign(a.length - b.length)
  return at >= b.length ? 1 : Math.sign((a[at] ?? 0) - (b[at] ?? 0))
}

const edges = ['a', 'b', '\ud7ff', '\ue000', '\u{10000}', '\u{10fffe}', '\u{10ffff}']
const text = fc.string({ unit: fc.constantFrom(...edges), maxLength: 4 })

test('the range of a prefix is what starts with it and nothing else', () => {
  fc.assert(
    fc.property(text, text, (prefix, candidate) => {
      const behind = firstTextAfterPrefix(prefix)
      const within = compare(candidate, prefix) >= 0 && (behind === null || compare(candidate, behind) < 0)
      expect(within).toBe(candidate.startsWith(prefix))
    }),
    { numRuns: 2_000 },
  )
})

const HOLDS = {
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
}

test('a bound that can be held says the same of every text that can be held', () => {
  const bound = fc.string({ unit: fc.constantFrom(...edges, '\0', '\ud800', '\udfff'), maxLength: 4 })
  const order = fc.constantFrom(...(Object.keys(HOLDS) as (keyof typeof HOLDS)[]))
  fc.assert(
    fc.property(order, bound, text, (asked, limit, held) => {
      const [storedOrder, stored] = toStorableBound(asked, limit)
      expect(stored.isWellFormed() && !stored.includes('\0')).toBe(true)
      expect(HOLDS[storedOrder](compare(held, stored))).toBe(HOLDS[asked](compare(held, limit)))
    }),
    { numRuns: 2_000 },
  )
})
