import { describe, expect, it } from 'vitest'
import { attributesOf, day, identifiersOf } from '../../test/extracted.ts'
import { civil } from './civil.ts'

const [person] = civil.record_types

/** The tree of public-standard.md 2.3, with invented values. */
const ada = {
  '@context': { '@vocab': 'https://schema.example.org/core/v1' },
  '@id': 'p1',
  '@type': 'CRVS_Person',
  identifier: [
    { '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'u-44' },
    { '@type': 'Identifier', identifier_type: 'BIRTH_REG_NO', identifier_value: 'B-0012' },
    { '@type': 'Identifier', identifier_type: 'PASSPORT', identifier_value: 'P-1' },
  ],
  name: { '@type': 'Name', surname: 'Okoro', given_name: 'Àda' },
  phone_number: ['+234 700 000'],
  email: ['Ada@Example.org'],
  sex: 'FeMale',
  birth_date: '1980-03-23T10:20:15',
  birth_place: { name: 'North Hills', geo: { latitude: 1.5, longitude: 2.5 } },
  death_date: '',
  death_place: '',
  address: [{ address_line1: 'Mill Lane 4', locality: 'Ikeja', sub_region_code: 'LA-1', region_code: 'LA', postal_code: 1001 }],
  marital_status: 'married',
  marriage_date: ['2004-05-02', '02.05.2010'],
  divorce_date: '',
  parent1_identifier: { identifier_type: 'UIN', identifier_value: 'U-9' },
  registration_date: '1980-04-01T00:00:00+02:00',
  last_updated: '2024-04-12T00:00',
}

describe('a civil person', () => {
  it('has every attribute that the record holds, and none that is ""', () => {
    expect(attributesOf(person, ada)).toEqual({
      surname: 'okoro',
      given_name: 'ada',
      sex: 'female',
      birth_date: day('1980-03-23'),
      birth_place: 'north hills',
      marital_status: 'M',
      marriage_date: [day('2004-05-02'), day('2010-05-02')],
      location: 'ikeja',
      district: 'la-1',
      region: 'la',
      postal_code: '1001',
      registration_date: '1980-03-31T22:00:00.000Z',
      last_updated: '2024-04-12T00:00:00.000Z',
    })
  })

  it('is named by its own identifiers, never by a parent’s', () => {
    expect(identifiersOf(civil, person, ada)).toEqual([
      'record UIN U-44',
      'record BRN B-0012',
      'record * P-1',
      'record MOBILE 234700000',
      'record EMAIL ada@example.org',
    ])
  })

  it('may hold one identifier, one address, one date and places as text', () => {
    const other = {
      identifier: { identifier_type: 'UIN', identifier_value: 'U-45' },
      address: { locality: 'Ikeja' },
      death_date: '2020',
      death_place: 'North Hills',
      marriage_date: '2004-05-02T00:00:00Z',
    }
    expect(identifiersOf(civil, person, other)).toEqual(['record UIN U-45'])
    expect(attributesOf(person, other)).toEqual({
      location: 'ikeja',
      death_date: { from: '2020-01-01', to: '2020-12-31' },
      death_place: 'north hills',
      marriage_date: [day('2004-05-02')],
    })
  })
})
