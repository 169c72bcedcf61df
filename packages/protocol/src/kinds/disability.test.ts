import { expect, it } from 'vitest'
import { attributesOf, day, identifiersOf } from '../../test/extracted.ts'
import { disability } from './disability.ts'

const [person] = disability.record_types

/** The tree of public-standard.md 2.7, with invented values. */
const document = {
  personal_details: {
    member_identifier: 'PX-1',
    name: { first_name: 'Mara', last_name: 'Voss' },
    date_of_birth: '1979-01-30',
    gender: 'Female',
  },
  disability_status: 'Approved',
  disability_level: 'Severe',
  disability_details: [{ impairment_type: 'Vision', impairment_level: '3', age_on_set: '1' }, { impairment_type: 3 }],
  disability_support: [{ human_assistance: { type: 'mobility' } }],
  transport_requirement: 1,
  housing_type: '2',
  programs_enrollments: [{ programme_name: 'Aid', programme_identifier: 'PRG-3' }],
  registration_date: '2026-01-01T00:00:00Z',
  last_updated: '2026-01-02T00:00:00Z',
}

it('a disabled person has the attributes of the person and of the disability', () => {
  expect(attributesOf(person, document)).toEqual({
    surname: 'voss',
    given_name: 'mara',
    sex: 'female',
    birth_date: day('1979-01-30'),
    disability_status: '0',
    disability_level: '2',
    transport_requirement: '1',
    housing_type: '2',
    registration_date: '2026-01-01T00:00:00.000Z',
    last_updated: '2026-01-02T00:00:00.000Z',
    impairment: [{ impairment_type: '1', impairment_level: '3', impairment_onset: '1' }, { impairment_type: '3' }],
    programme_enrolment: [{ programme_identifier: 'prg-3', programme_name: 'aid' }],
  })
})

it('an impairment may stand in the record itself', () => {
  expect(attributesOf(person, { impairment_type: 'Hearing', impairment_level: 'Mild' })).toEqual({
    impairment: [{ impairment_type: '2', impairment_level: '1' }],
  })
})

it.each([
  [document, ['record UIN PX-1']],
  [{ personal_details: { identifier: { identifier_type: 'UIN', identifier_value: 'PX-2' } } }, ['record UIN PX-2']],
  [{ identifier: [{ identifier_type: 'UIN', identifier_value: 'PX-3' }] }, ['record UIN PX-3']],
])('a disabled person is named by an identifier of any published place', (record, identifiers) => {
  expect(identifiersOf(disability, person, record)).toEqual(identifiers)
})
