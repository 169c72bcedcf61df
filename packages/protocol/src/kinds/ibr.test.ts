import { describe, expect, it } from 'vitest'
import { attributesOf, day, identifiersOf } from '../../test/extracted.ts'
import { ibr } from './ibr.ts'

const [beneficiary] = ibr.record_types

/** The first tree of public-standard.md 2.4, all leaves strings, with invented values. */
const bola = {
  '@type': 'Beneficiary',
  assistance_unit: '2',
  member: {
    member_identifier: 'HS-88',
    demographic_info: {
      person: {
        identifier_type: 'NID',
        identifier_value: 'N-300',
        name: { first_name: 'Bola', second_name: '', surname: 'Ade' },
        sex: 'F',
        birth_date: '02.05.2004',
        address: { postal_code: '0042' },
      },
    },
    is_disabled: '0',
    marital_status: 'single',
    employment_status: 'employed',
    programme_identifier: {
      programme: { programme_identifier: 'PRG-7', programme_name: 'Winter grant' },
      enrolment_date: '2025-11-01',
      enrolment_status: 'Active',
    },
    registration_date: '2025-10-01',
    last_update: '2025-12-01T08:00:00Z',
  },
}

describe('a beneficiary', () => {
  it('has the attributes of the person, the member and the enrolment', () => {
    expect(attributesOf(beneficiary, bola)).toEqual({
      surname: 'ade',
      given_name: 'bola',
      sex: 'female',
      birth_date: day('2004-05-02'),
      postal_code: '0042',
      is_disabled: false,
      marital_status: 'S',
      employment_status: '1',
      assistance_unit: '2',
      enrolment: [
        {
          programme_identifier: 'prg-7',
          programme_name: 'winter grant',
          enrolment_status: '1',
          enrolment_date: day('2025-11-01'),
        },
      ],
      registration_date: '2025-10-01T00:00:00.000Z',
      last_updated: '2025-12-01T08:00:00.000Z',
    })
  })

  it('is named by its bare member identifier as UIN, and by the person’s', () => {
    expect(identifiersOf(ibr, beneficiary, bola)).toEqual(['record UIN HS-88', 'record NID N-300'])
  })

  it('may have identifiers in arrays and several enrolments', () => {
    const several = {
      member: {
        member_identifier: [{ identifier_type: 'UIN', identifier_value: 'U-61' }],
        demographic_info: { person: { identifier: [{ identifier_type: 'NID', identifier_value: 'N-1' }] } },
        programme_identifier: [
          { programme: { programme_identifier: 'PRG-7' }, enrollment_status: '4' },
          { program: { program_identifier: 'PRG-8' }, enrolment_status: 'Graduated' },
        ],
      },
    }
    expect(identifiersOf(ibr, beneficiary, several)).toEqual(['record UIN U-61', 'record NID N-1'])
    expect(attributesOf(beneficiary, several)).toEqual({
      enrolment: [
        { programme_identifier: 'prg-7', enrolment_status: '4' },
        { programme_identifier: 'prg-8', enrolment_status: '3' },
      ],
    })
  })

  it('may have its programmes beside the member, as the newer classes say', () => {
    const newer = {
      '@type': 'Beneficiary',
      member: { member_identifier: 'U-62' },
      programme_identifier: [{ programme_identifier: 'PRG-9', programme_name: 'Meals' }],
      enrollment_status: '1',
      enrollment_date: '2026-01-05',
    }
    expect(attributesOf(beneficiary, newer)).toEqual({
      enrolment: [
        { programme_identifier: 'prg-9', programme_name: 'meals', enrolment_status: '1', enrolment_date: day('2026-01-05') },
      ],
    })
  })

  it('may say its status beside the member, for all programmes that say none themselves', () => {
    const beside = {
      member: {
        programme_identifier: [
          { programme_identifier: 'PRG-1', enrolment_status: 'Graduated' },
          { programme_identifier: 'PRG-2' },
          'PRG-3',
        ],
        additional_attributes: [{ level: 2 }, { enrollment_status: 'Active' }],
      },
    }
    expect(attributesOf(beneficiary, beside)).toEqual({
      enrolment: [
        { programme_identifier: 'prg-1', enrolment_status: '3' },
        { programme_identifier: 'prg-2', enrolment_status: '1' },
        { programme_identifier: 'prg-3', enrolment_status: '1' },
      ],
    })
  })

  it('may be flat, with one programme in the record itself', () => {
    const flat = { programme_name: 'Meals', enrolment_date: '2026-01-05', enrolment_status: '4' }
    expect(attributesOf(beneficiary, flat)).toEqual({
      enrolment: [{ programme_name: 'meals', enrolment_date: day('2026-01-05'), enrolment_status: '4' }],
    })
  })

  it('may be flat, with a programme that says status and date', () => {
    const programme = { programme_identifier: 'PRG-3', enrolment_status: '4', enrolment_date: '2026-01-05' }
    const [one] = attributesOf(beneficiary, { programme }).enrolment as object[]
    expect(one).toMatchObject({ enrolment_status: '4', enrolment_date: day('2026-01-05') })
  })

  it('may be a plain member, as in notifications', () => {
    const member = {
      '@type': 'spdci:member',
      member_identifier: [{ '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'U-61' }],
      demographic_info: { name: { surname: 'Ade' } },
      is_disabled: false,
      additional_attributes: [{ enrolment_status: 'Suspended' }],
    }
    expect(identifiersOf(ibr, beneficiary, member)).toEqual(['record UIN U-61'])
    expect(attributesOf(beneficiary, member)).toEqual({
      surname: 'ade',
      is_disabled: false,
      enrolment: [{ enrolment_status: '4' }],
    })
  })
})
