import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { IdentifierType } from './kind.ts'
import { IDENTIFIER_MAX_LENGTH, normaliseIdentifier } from './normalisers.ts'

const of = (normaliser: IdentifierType['normaliser']) => ({ name: 'X', normaliser })
const normalisers = ['code', 'phone', 'email', 'exact'] as const

describe('code', () => {
  it.each([
    ['U-44', 'U-44'],
    ['u-44', 'U-44'],
    [' ab 0012 ', 'AB0012'],
    ['1234 5678\u00a09012', '123456789012'],
    ['0007', '0007'],
    ['\uff21\uff22\uff11', 'AB1'],
    ['u\u200b44', 'U44'],
    ['b-5521/2014', 'B-5521/2014'],
    // A letter of mathematics and a spacing accent.
    ['\u{1d604}\u0384', '\u1e82'],
  ])('%j is %j', (raw, value) => {
    expect(normaliseIdentifier(of('code'), raw)).toBe(value)
  })

  it('keeps what means something in SQL, LIKE and JSON paths as plain text', () => {
    expect(normaliseIdentifier(of('code'), `a'; DROP--%_$.*"\\`)).toBe(`A';DROP--%_$.*"\\`)
  })
})

describe('phone', () => {
  it.each([
    ['+254 (700) 12-34.56', '254700123456'],
    ['tel:+254700123456', '254700123456'],
    ['254700123456', '254700123456'],
    ['0700 123456', '0700123456'],
    ['00254700123456', '00254700123456'],
    ['\uff10\uff17\uff10\uff10', '0700'],
  ])('%j is %j', (raw, value) => {
    expect(normaliseIdentifier(of('phone'), raw)).toBe(value)
  })

  it.each(['12', 'n/a', '0700 ext 5', '+', '07+00', '++254700123456', '1'.repeat(33)])('%j is no phone number', (raw) => {
    expect(normaliseIdentifier(of('phone'), raw)).toBeNull()
  })
})

describe('email', () => {
  it('makes no difference of case', () => {
    expect(normaliseIdentifier(of('email'), ' Ada.Okoro@Example.ORG ')).toBe('ada.okoro@example.org')
  })

  it.each(['ada', '@example.org', 'ada@', 'a@b@c'])('%j is no address', (raw) => {
    expect(normaliseIdentifier(of('email'), raw)).toBeNull()
  })
})

it('exact keeps case and inner space', () => {
  expect(normaliseIdentifier(of('exact'), ' aB c ')).toBe('aB c')
})

describe.each(normalisers)('%s', (normaliser) => {
  const type = of(normaliser)

  it.each(['', ' ', '\u200b', 'a\u0000b', 'a\u0007b@c', '\ud800', '07\n00\u0001'])('%j has no usable value', (raw) => {
    // A zero-width space is text like any other to "exact".
    const usable = normaliser === 'exact' && raw === '\u200b'
    expect(normaliseIdentifier(type, raw)).toBe(usable ? raw : null)
  })

  it('refuses values over 256 characters, in bounded time', () => {
    expect(normaliseIdentifier(type, 'a'.repeat(IDENTIFIER_MAX_LENGTH + 1))).toBeNull()
    expect(normaliseIdentifier(type, ' '.repeat(5_000_000))).toBeNull()
  })

  it('leaves what is normalised as it is, drops no digit in front, and is blind to space around', () => {
    const raw = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.stringMatching(/^0{0,4}[0-9]{3,9}$/),
      fc.emailAddress(),
    )
    fc.assert(
      fc.property(raw, (text) => {
        const value = normaliseIdentifier(type, text)
        if (value === null) return
        expect(normaliseIdentifier(type, value)).toBe(value)
        expect(normaliseIdentifier(type, ` ${text}\t`)).toBe(value)
        if (/^\d+$/.test(text)) expect(value).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})

it('a code of 256 characters is held', () => {
  expect(normaliseIdentifier(of('code'), '7'.repeat(IDENTIFIER_MAX_LENGTH))).toHaveLength(IDENTIFIER_MAX_LENGTH)
})
