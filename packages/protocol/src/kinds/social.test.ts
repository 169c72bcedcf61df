import { describe, expect, it } from 'vitest'
import { attributesOf, identifiersOf } from '../../test/extracted.ts'
import { resolveRecordType } from './index.ts'
import { social } from './social.ts'

const [member] = social.record_types
const group = resolveRecordType(social, 'Group') ?? member

/** The trees of public-standard.md 2.6, with invented values. */
const head = {
  '@type': 'Member',
  member_identifier: [{ identifier_type: 'UIN', identifier_value: 'U-7' }],
  demographic_info: {
    '@type': 'SRPerson',
    'spdci:identifier': [{ identifier_type: 'NationalID', identifier_value: 'N-7' }],
    name: { sur_name: 'Ölçer' },
    sex: 'M',
    address: { '@type': 'Address', street_address: 'Mill Lane 4', city: 'North_Hills', postal_code: 'NH 1', country: 'X' },
    birth_date: '1985-06',
    phone_number: ['0700 123'],
    registration_date: '2025-10-01',
  },
  is_disabled: false,
  marital_status: 'W',
  disability_info: [{ functional_limitation_type: 'Self-Care', functional_severity: 'Some' }],
  additional_attributes: [{ poverty_score: '2.4' }],
}

const household = {
  '@type': 'spdci:Group',
  group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'h-12' }],
  group_type: 'family',
  place: { '@type': 'Place', geo: { latitude: '1.5', longitude: '2.5' }, address: 'north_hills' },
  place_address: 1,
  poverty_score: '3.4',
  poverty_score_type: 'PMT',
  group_size: 3,
  group_head_info: head,
  member_list: [
    { member_identifier: [{ identifier_type: 'UIN', identifier_value: 'U-8' }] },
    { household_member: { member_identifier: 'U-9' } },
  ],
  registration_date: '2025-10-01T06:00:00Z',
  last_update: '2025-11-01T06:00:00Z',
}

describe('a member', () => {
  it('has the attributes of the person and of need', () => {
    expect(attributesOf(member, head)).toEqual({
      surname: 'olcer',
      sex: 'male',
      birth_date: { from: '1985-06-01', to: '1985-06-30' },
      location: 'north_hills',
      postal_code: 'nh 1',
      is_disabled: false,
      marital_status: 'W',
      poverty_score: 2.4,
      functional_limitation: [{ functional_limitation_type: 'SC_SS', functional_severity: '2' }],
      registration_date: '2025-10-01T00:00:00.000Z',
    })
  })

  it('is named by its identifiers and its phone', () => {
    expect(identifiersOf(social, member, head)).toEqual(['record UIN U-7', 'record NID N-7', 'record MOBILE 0700123'])
  })

  it('may have its person one level deeper', () => {
    expect(attributesOf(member, { demographic_info: { person: { sex: 'F' } } })).toEqual({ sex: 'female' })
  })
})

describe('a group', () => {
  it('has the attributes of the household, and its members as a list of their own', () => {
    expect(attributesOf(group, household)).toEqual({
      group_type: '3',
      poverty_score: 3.4,
      poverty_score_type: 'pmt',
      group_size: 3,
      location: 'north_hills',
      registration_date: '2025-10-01T06:00:00.000Z',
      last_updated: '2025-11-01T06:00:00.000Z',
      // Nothing but identifiers is said of those in the list.
      household_member: [
        { sex: 'male', birth_date: { from: '1985-06-01', to: '1985-06-30' }, is_disabled: false, marital_status: 'W' },
      ],
    })
  })

  it.each([
    [[head, { demographic_info: { sex: 'F' }, is_disabled: true }]],
    [[{ household_member: head }, { household_member: { demographic_info: { sex: 'F' }, is_disabled: 1 } }]],
  ])('has the members that are listed in %j', (member_list) => {
    expect(attributesOf(group, { member_list }).household_member).toEqual([
      expect.objectContaining({ sex: 'male', marital_status: 'W' }),
      { sex: 'female', is_disabled: true },
    ])
  })

  it('is named by its household id, and found through its head and its members', () => {
    expect(identifiersOf(social, group, household)).toEqual([
      'record HOUSEHOLD_ID H-12',
      'part UIN U-7',
      'part UIN U-8',
      'part UIN U-9',
      'part NID N-7',
      'part MOBILE 0700123',
    ])
  })
})
