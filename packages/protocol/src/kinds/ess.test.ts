import { expect, it } from 'vitest'
import { attributesOf, day, identifiersOf } from '../../test/extracted.ts'
import { ess } from './ess.ts'

const [member] = ess.record_types

/** The tree of public-standard.md 2.5, with invented values. */
const lina = {
  '@type': 'spdci:member',
  member_identifier: [{ '@type': 'Identifier', identifier_type: 'UIN', identifier_value: '4100' }],
  demographic_info: {
    '@type': 'ESSPerson',
    ':identifier': [{ identifier_type: 'UIN', identifier_value: '4100' }],
    name: { '@type': 'Name', surname: 'Haddad', given_name: 'Lina' },
    sex: 'female',
    birth_date: '1991-07-09',
  },
  related_person: [{ relationship_type: 'SPS', related_member: { member_identifier: '4101' } }],
  is_disabled: true,
  employment_status: 'unemployed',
  occupation: 'Welder',
  education_level: 3,
  income_level: 'Low',
  language_code: ['en'],
  employment_info: [{ job_title: 'welder', employment_type: 'Seasonal' }, { employment_type: '1' }],
  unemployment_reason: 'Limited job ended',
  additional_attributes: [{ enrolment_status: 'Awaiting Renewal' }],
  registration_date: '2026-01-05T08:00:00Z',
  last_updated: '2026-02-05T08:00:00Z',
}

it('a member has the attributes of the person, of work and of enrolment', () => {
  expect(attributesOf(member, lina)).toEqual({
    surname: 'haddad',
    given_name: 'lina',
    sex: 'female',
    birth_date: day('1991-07-09'),
    is_disabled: true,
    employment_status: '2',
    occupation: 'welder',
    education_level: '3',
    income_level: 'low',
    employment: [{ job_title: 'welder', employment_type: '4' }, { employment_type: '1' }],
    unemployment_reason: '2',
    enrolment_status: '7',
    registration_date: '2026-01-05T08:00:00.000Z',
    last_updated: '2026-02-05T08:00:00.000Z',
  })
})

it('a member may say the type of employment outside the jobs', () => {
  expect(attributesOf(member, { employment_type: 'casual' })).toEqual({ employment: [{ employment_type: '3' }] })
  const jobs = [{ job_title: 'Baker', employment_type: '1' }, { employer: 'Tarn Mills' }]
  expect(attributesOf(member, { employment_type: 'casual', employment_info: jobs })).toEqual({
    employment: [
      { job_title: 'baker', employment_type: '1' },
      { employer: 'tarn mills', employment_type: '3' },
    ],
  })
})

it('a member is named by its own identifiers, never by a related person’s', () => {
  expect(identifiersOf(ess, member, lina)).toEqual(['record UIN 4100'])
})
