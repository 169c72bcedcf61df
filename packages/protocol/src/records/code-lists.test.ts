import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CODE_LISTS, type Code, type CodeListName, normaliseCode } from './code-lists.ts'

const names = Object.keys(CODE_LISTS) as CodeListName[]

describe.each(names)('%s', (name) => {
  const codes: readonly Code[] = CODE_LISTS[name]

  it('has one meaning for every spelling, in any case, with any separator', () => {
    for (const [code, ...spellings] of codes) {
      for (const spelling of [code, ...spellings]) {
        expect(normaliseCode(name, spelling)).toBe(code)
        expect(normaliseCode(name, ` ${spelling.toUpperCase().replaceAll(' ', '_')} `)).toBe(code)
        expect(normaliseCode(name, `spdci:${spelling.toLowerCase()}`)).toBe(code)
      }
    }
  })
})

describe('normaliseCode', () => {
  it.each([
    ['sex', 'F', 'female'],
    ['sex', 'FeMale', 'female'],
    ['sex', 'M', 'male'],
    ['marital_status', 'm', 'M'],
    ['marital_status', 'Widow', 'W'],
    ['marital_status', 'single', 'S'],
    ['employment_status', 'unemployed', '2'],
    ['employment_status', 'Not employed', '2'],
    ['ess_enrolment_status', 'Awaiting Renewal', '7'],
    ['ibr_enrolment_status', 'ACTIVE', '1'],
    ['group_type', 'family', '3'],
    ['disability_level', 'High support needs', '1'],
    ['crop_type', 'Cereals', '1'],
  ] as const)('%s: %s is %s', (list, raw, code) => {
    expect(normaliseCode(list, raw)).toBe(code)
  })

  it.each([
    ['occupation', ' Welder ', 'welder'],
    ['sex', 'E\u0301', '\u00e9'],
    ['sex', 'x:constructor', 'x:constructor'],
    ['ibr_enrolment_status', 'Inactive', 'inactive'],
  ] as const)('%s keeps what is not on the list: %s is %s', (list, raw, kept) => {
    expect(normaliseCode(list, raw)).toBe(kept)
  })

  it.each(['', ' ', '\t'])('%j is no code', (raw) => {
    expect(normaliseCode('sex', raw)).toBeNull()
  })

  it('is stable', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 12 }), (list, raw) => {
        const once = normaliseCode(list, raw)
        if (once !== null) expect(normaliseCode(list, once)).toBe(once)
      }),
      { numRuns: 3000 },
    )
  })
})
