import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareCodePoints } from './code-points.ts'

it.each([
  ['', '', 0],
  ['', 'a', -1],
  ['a', '', 1],
  ['ab', 'abc', -1],
  ['Z', 'a', -1],
  ['z', '\u00e9', -1],
  ['\ud7ff', '\ue000', -1],
  ['\uff21', '\u{1f600}', -1],
  ['\u{1f600}', '\u{1f601}', -1],
  ['\u{10ffff}', '\ufffd', 1],
])('%j and %j', (one, other, sign) => {
  expect(Math.sign(compareCodePoints(one, other))).toBe(sign)
  expect(Math.sign(compareCodePoints(other, one))).toBe(0 - sign)
})

it('is the order of the UTF-8 bytes', () => {
  const unit = fc.oneof(
    fc.constantFrom('a', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )
  const text = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''))
  fc.assert(
    fc.property(text, text, (one, other) => {
      const bytes = Buffer.compare(Buffer.from(one), Buffer.from(other))
      expect(Math.sign(compareCodePoints(one, other))).toBe(bytes)
    }),
    { numRuns: 5000 },
  )
})
