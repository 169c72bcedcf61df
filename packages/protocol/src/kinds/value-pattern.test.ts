import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasForm, patternProblem, sampleOfForm } from './value-pattern.ts'

const RULE =
  'must be digits, capital letters, - / . _ and classes such as [0-9], [A-Z0-9] or \\d, each with {n}, {n,m} or ? if it is there several times or may be missing'

describe('a pattern', () => {
  it.each([
    ['[0-9]{13}', '1234567890123', true],
    ['[0-9]{13}', '123456789012', false],
    ['^\\d{3}-\\d{2,3}$', '123-45', true],
    ['^\\d{3}-\\d{2,3}$', '123-456', true],
    ['^\\d{3}-\\d{2,3}$', '123-4567', false],
    ['[A-Z]{1,2}\\d{6}[A-D]?', 'AB123456C', true],
    ['[A-Z]{1,2}\\d{6}[A-D]?', 'A123456', true],
    ['[A-Z]{1,2}\\d{6}[A-D]?', 'AB123456E', false],
    ['[0-9A-F]{4}', '0AFB', true],
    ['\\d?\\d?7', '7', true],
    ['\\d?\\d?7', '777', true],
    ['\\d?\\d?7', '', false],
    ['NIN-\\d\\/[.]', 'NIN-1/.', true],
  ])('%s and the value %j: %j', (pattern, value, fits) => {
    expect(patternProblem(pattern)).toBeNull()
    expect(hasForm(pattern, value)).toBe(fits)
  })

  it.each([
    ['', RULE],
    ['^$', RULE],
    ['\\d+', RULE],
    ['\\d*', RULE],
    ['(\\d)', RULE],
    ['A|B', RULE],
    ['.', RULE],
    ['[a-z]', RULE],
    ['[^0-9]', RULE],
    ['[9-0]', RULE],
    ['[0-Z]', RULE],
    ['\\d{3,2}', RULE],
    ['\\d{0}', RULE],
    ['\\d{100}', RULE],
    ['é', RULE],
    ['\\d?', 'must describe values of one character at least'],
    ['\\d{65}', 'must describe values of at most 64 characters'],
    ['1'.repeat(101), 'must be at most 100 characters'],
  ])('%j is refused: %s', (pattern, rule) => {
    expect(patternProblem(pattern)).toBe(rule)
  })

  const part = fc
    .tuple(fc.constantFrom('[0-9]', '[A-F]', '\\d', 'X', '-', '[A-Z0-9]'), fc.nat(3), fc.nat(3))
    .map(([one, least, more]) => (least + more === 0 ? one : `${one}{${least},${least + more}}`))
  const patterns = fc
    .array(part, { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join(''))
    .filter((pattern) => patternProblem(pattern) === null)

  it('means what the same regular expression means, and its sample has its form', () => {
    const values = fc.string({ unit: fc.constantFrom(...'0129AFXZ-'), maxLength: 14 })
    fc.assert(
      fc.property(patterns, values, (pattern, value) => {
        expect(hasForm(pattern, value)).toBe(new RegExp(`^(?:${pattern})$`).test(value))
        expect(hasForm(pattern, sampleOfForm(pattern))).toBe(true)
      }),
    )
  })

  it('is compared in time that its length bounds, however it could be divided', () => {
    const pattern = '\\d{0,9}'.repeat(7)
    expect(patternProblem(`${pattern}A`)).toBeNull()
    for (let time = 0; time < 1_000; time += 1) expect(hasForm(`${pattern}A`, '1'.repeat(256))).toBe(false)
  })
})
