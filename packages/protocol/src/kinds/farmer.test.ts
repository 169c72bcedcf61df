import { describe, expect, it } from 'vitest'
import { attributesOf, day, identifiersOf } from '../../test/extracted.ts'
import { farmer } from './farmer.ts'

const [type] = farmer.record_types

/** The tree of public-standard.md 2.8 with its own spelling of the first member, and invented values. */
const document = {
  famer_personal_details: {
    member_identifier: 'F-0031',
    demographic_info: {
      identifier: [{ identifier_type: 'NIN', identifier_value: 'N-31' }],
      name: { first_name: 'Tomas', last_name: 'Berg' },
      date_of_birth: '12.06.1970',
      gender: 'M',
    },
  },
  land_details: [
    {
      land_type: 'Arable',
      land_ownership: 'Owned',
      land_size: '2.5',
      measurement: 'H',
      address: { locality: 'North Hills' },
      farming_activities: [{ crop_details: [{ crop_type: 'Cereals', irrigation_type: 'Rain' }, { crop_type: 2 }] }],
    },
    { land_size: 1, farming_activities: { crop_details: { crop_type: 'quinoa' } } },
  ],
  farmer_type: 'Smallholder',
  registration_date: '2026-01-01T00:00:00Z',
  last_updated: '2026-01-02T00:00:00Z',
}

describe('a farmer', () => {
  it('has the attributes of the person and of every parcel of land', () => {
    expect(attributesOf(type, document)).toEqual({
      surname: 'berg',
      given_name: 'tomas',
      sex: 'male',
      birth_date: day('1970-06-12'),
      location: 'north hills',
      farmer_type: 'smallholder',
      parcel: [{ farm_size: 2.5, area_unit: 'H', land_type: 'arable', land_ownership: 'owned' }, { farm_size: 1 }],
      crop: [{ crop_type: '1', irrigation_type: 'rain' }, { crop_type: '2' }, { crop_type: 'quinoa' }],
      registration_date: '2026-01-01T00:00:00.000Z',
      last_updated: '2026-01-02T00:00:00.000Z',
    })
  })

  it('is named by its farmer number, bare or not, and by the person’s', () => {
    expect(identifiersOf(farmer, type, document)).toEqual(['record FARMER_ID F-0031', 'record NID N-31'])
    const identifier = [{ identifier_type: 'FID', identifier_value: 'F-1' }]
    expect(identifiersOf(farmer, type, { farmer_personal_details: { demographic_info: { identifier } } })).toEqual([
      'record FARMER_ID F-1',
    ])
  })

  it('may have farms in place of land, as the newer classes say', () => {
    const newer = {
      farm_type: '2',
      farm_details: [{ farm_id: 'FA-1', farming_activities: [{ crop_details: [{ crop_type: '7' }] }] }],
    }
    expect(attributesOf(type, newer)).toEqual({ parcel: [{ farm_type: '2' }], crop: [{ crop_type: '7' }] })
    expect(attributesOf(type, { farm_size: '3', crop_type: 'Fruit', irrigation_type: 'Drip' })).toEqual({
      parcel: [{ farm_size: 3 }],
      crop: [{ crop_type: '3', irrigation_type: 'drip' }],
    })
    expect(identifiersOf(farmer, type, newer)).toEqual(['record FARM_ID FA-1'])
  })
})
