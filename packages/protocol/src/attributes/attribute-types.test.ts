import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import { ATTRIBUTE_TEXT_MAX_LENGTH, SCALAR_READERS } from './attribute-types.ts'

function read(type: AttributeType, raw: JsonValue, more: Partial<Attribute> = {}) {
  return SCALAR_READERS[type](raw, { name: 'a', paths: ['a'], type, ...more })
}

describe('text', () => {
  it('is composed, and folded where the attribute says so', () => {
    expect(read('text', 'E\u0301lodie')).toBe('\u00c9lodie')
    expect(read('text', 'E\u0301LODIE', { fold: true })).toBe('elodie')
    expect(read('text', ' Ada\u00a0 Okoro ')).toBe(' Ada\u00a0 Okoro ')
    expect(read('text', ' Ada\u00a0 Okoro ', { fold: true })).toBe('ada okoro')
    expect(read('text', ' \u00a0', { fold: true })).toBeNull()
  })

  it('reads numbers by their digits', () => {
    expect(read('text', 1001)).toBe('1001')
    expect(read('text', 1e20)).toBe('100000000000000000000')
  })

  it.each([[''], [null], [true], [{ name: 'x' }], [['x']]])('%j is no text', (raw) => {
    expect(read('text', raw)).toBeNull()
  })
})

describe.each(['text', 'code'] as const)('the length of %s', (type) => {
  it('is cut after normalisation, and the value is never missing for it', () => {
    const longest = 'x'.repeat(ATTRIBUTE_TEXT_MAX_LENGTH)
    expect(read(type, longest)).toBe(longest)
    expect(read(type, `${longest}x`)).toBe(longest)
    expect(read(type, 'x'.repeat(1_000_000))).toBe(longest)
    expect(read(type, '\u0344'.repeat(ATTRIBUTE_TEXT_MAX_LENGTH), { codes: 'sex' })).toHaveLength(ATTRIBUTE_TEXT_MAX_LENGTH)
  })
})

describe('code', () => {
  it.each([
    ['F', 'female'],
    ['FeMale', 'female'],
    [' male ', 'male'],
    ['Hijra', 'hijra'],
  ])('%s is %s', (raw, code) => {
    expect(read('code', raw, { codes: 'sex' })).toBe(code)
  })

  it('reads numeric codes', () => {
    expect(read('code', 1, { codes: 'ess_enrolment_status' })).toBe('1')
    expect(read('code', 'Active', { codes: 'ess_enrolment_status' })).toBe('1')
  })

  it.each([[''], ['  '], [null], [false], [{}]])('%j is no code', (raw) => {
    expect(read('code', raw, { codes: 'sex' })).toBeNull()
  })
})

describe('date and datetime', () => {
  it('a year may be a number', () => {
    expect(read('date', 1985)).toEqual({ from: '1985-01-01', to: '1985-12-31' })
  })

  it.each([[85], [19850612], [1985.5], [-1985], [true], [{}], ['soon']])('%j is no date', (raw) => {
    expect(read('date', raw)).toBeNull()
  })

  it('a datetime is UTC', () => {
    expect(read('datetime', '2014-06-01T04:10:00+05:00')).toBe('2014-05-31T23:10:00.000Z')
  })

  it.each([[1700000000], [null], ['soon']])('%j is no datetime', (raw) => {
    expect(read('datetime', raw)).toBeNull()
  })
})

describe('number', () => {
  it.each([
    [3.5, 3.5],
    ['3.5', 3.5],
    [' 4 ', 4],
    ['-1e3', -1000],
    ['.5', 0.5],
    [0, 0],
  ])('%j is %j', (raw, number) => {
    expect(read('number', raw)).toBe(number)
  })

  it('reads a text of a record as near as a double comes', () => {
    expect(read('number', '9007199254740993')).toBe(9007199254740992)
    expect(read('number', '0.12345678901234567890')).toBe(0.12345678901234568)
  })

  it('minus nought is nought', () => {
    expect(Object.is(read('number', -0), 0)).toBe(true)
    expect(Object.is(read('number', '-0'), 0)).toBe(true)
  })

  it.each([[''], ['NaN'], ['Infinity'], ['1e400'], ['0x10'], ['3,5'], ['2 ha'], [true], [null]])('%s is no number', (raw) => {
    expect(read('number', raw)).toBeNull()
  })
})

describe('boolean', () => {
  it.each([
    [true, true],
    ['true', true],
    ['TRUE', true],
    [1, true],
    ['1', true],
    [false, false],
    [' false ', false],
    [0, false],
    ['0', false],
  ])('%j is %j', (raw, boolean) => {
    expect(read('boolean', raw)).toBe(boolean)
  })

  it.each([[2], ['maybe'], [''], [null], [{}]])('%j is no boolean', (raw) => {
    expect(read('boolean', raw)).toBeNull()
  })
})

it('whatever a type reads, it reads its own value again as the same', () => {
  const raw = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.bigInt().map(String),
    fc.boolean(),
    fc.constantFrom<JsonValue>(null, {}, [], 'F', '1985-06', '2014-06-01T04:10:00+05:00'),
  )
  const stable: AttributeType[] = ['text', 'code', 'datetime', 'number', 'boolean']
  fc.assert(
    fc.property(raw, fc.constantFrom(...stable), (value, type) => {
      const more = type === 'code' ? ({ codes: 'marital_status' } as const) : { fold: true as const }
      const once = read(type, value, more)
      if (once !== null && typeof once !== 'object') expect(read(type, once, more)).toBe(once)
    }),
    { numRuns: 2000 },
  )
})
