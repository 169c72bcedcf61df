import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exactNumber, integerText } from './numbers.ts'

/** The value of a decimal literal as a fraction of two integers, by arithmetic that rounds nothing. */
function fraction(literal: string): readonly [numerator: bigint, denominator: bigint] {
  const [, sign = '', whole = '', decimals = '', power = '0'] =
    /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/.exec(literal) ?? []
  const shift = Number(power) - decimals.length
  const digits = BigInt(`${whole}${decimals}`) * (sign === '-' ? -1n : 1n)
  return shift < 0 ? [digits, 10n ** BigInt(-shift)] : [digits * 10n ** BigInt(shift), 1n]
}

function isSameValue(one: string, other: string): boolean {
  const [a, b] = fraction(one)
  const [c, d] = fraction(other)
  return a * d === c * b
}

test.each([
  ['1.0', 1],
  ['1e2', 100],
  ['-0', -0],
  ['0e99999', 0],
  ['0.1', 0.1],
  ['0.10', 0.1],
  ['1e16', 1e16],
  ['1e20', 1e20],
  ['1E+21', 1e21],
  ['9007199254740992', 2 ** 53],
  ['9007199254740992.0', 2 ** 53],
  ['100000000000000000000e-3', 1e17],
  ['5e-324', 5e-324],
  ['1.7976931348623157e308', Number.MAX_VALUE],
  [`1${'0'.repeat(308)}`, 1e308],
])('%s is kept', (literal, expected) => {
  expect(exactNumber(literal)).toBe(expected)
})

test.each([
  '9007199254740993',
  '-9007199254740993',
  '9007199254740993.0',
  '9.007199254740993e15',
  '0.12345678901234567890',
  '0.10000000000000001',
  '4.9e-324',
  '1e-400',
  '1e400',
  `1${'0'.repeat(309)}`,
  // A double is exactly this, and is written as 295147905179352830000.
  '295147905179352825856',
])('%s would come back as another number', (literal) => {
  expect(exactNumber(literal)).toBeNull()
})

describe('any literal', () => {
  const digits = (maxLength: number) => fc.array(fc.nat(9), { minLength: 1, maxLength }).map((list) => list.join(''))
  const literal = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(digits(3), digits(22)).map((text) => text.replace(/^0+(?=\d)/, '')),
      fc.option(digits(25), { nil: undefined }),
      fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), fc.nat(400)), { nil: undefined }),
    )
    .map(([sign, whole, decimals, power]) => {
      return `${sign}${whole}${decimals === undefined ? '' : `.${decimals}`}${power?.join('') ?? ''}`
    })

  test('is kept exactly when its double is written as the same number', () => {
    fc.assert(
      fc.property(literal, (text) => {
        const number = JSON.parse(text)
        const isKept = Number.isFinite(number) && isSameValue(text, String(number))
        expect(exactNumber(text)).toBe(isKept ? number : null)
      }),
      { numRuns: 5_000 },
    )
  })

  test('of a double is kept, in each of its usual spellings', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(double, (number) => {
        const exponential = number.toExponential()
        for (const text of [JSON.stringify(number), exponential, exponential.toUpperCase(), `${number}`]) {
          expect(exactNumber(text)).toBe(text.startsWith('-') ? number : Math.abs(number))
        }
      }),
    )
  })

  test('of millions of digits is judged', () => {
    for (const text of ['9'.repeat(4e6), `0.${'0'.repeat(4e6)}1`, `1${'0'.repeat(4e6)}e-4000001`]) {
      expect(exactNumber(text)).toBe(text.endsWith('e-4000001') ? 0.1 : null)
    }
  })
})

test.each<[unknown, string | null]>([
  [7, '7'],
  [-0, '0'],
  [2 ** 53, '9007199254740992'],
  [1e20, '100000000000000000000'],
  [1e21, null],
  [0.5, null],
  [Number.NaN, null],
  ['7', null],
])('the digits of %s are %s', (value, expected) => {
  expect(integerText(value)).toBe(expected)
})
