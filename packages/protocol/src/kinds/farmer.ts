/** The farmer registry (public-standard.md 2.8). */
import { Farmer } from '../records/farmer.ts'
import { NID, UIN } from './identifier-types.ts'
import type { Compound, CompoundMember, IdentifierSource, Kind } from './kind.ts'
import { addressAttributes, identifierKeyedList, pathsAt, personAttributes, registrationAttributes } from './shared-attributes.ts'

const farmerDetailsPaths = ['farmer_personal_details']
const personPaths = pathsAt(farmerDetailsPaths, 'demographic_info', 'demographic_info.person')
/** The paths of the list of parcels: first as in the published examples, then as in newer schemas of the public standard. */
const parcelPaths = ['land_details', 'farm_details']
const activityPaths = pathsAt(parcelPaths, 'farming_activities')

const farmerIdSource = (path: string): IdentifierSource => ({ path, type: 'FARMER_ID', names: 'record' })

/** Makes a text member of a compound. Elements that lack the member get its value from the record. */
function elementOrRecordMember(name: string): CompoundMember {
  return { name, paths: [name], record_paths: [name], type: 'text', fold: true }
}

/** A parcel of land, or a farm. */
const parcel: Compound = {
  name: 'parcel',
  paths: [...parcelPaths, ''],
  members: [
    elementOrRecordMember('farm_type'),
    { name: 'farm_size', paths: ['land_size', 'farm_size'], record_paths: ['farm_size'], type: 'number' },
    { name: 'area_unit', paths: ['measurement'], type: 'code', codes: 'area_unit' },
    elementOrRecordMember('land_type'),
    elementOrRecordMember('land_ownership'),
  ],
}

/** A crop, and how it is grown. Without lists of crops, the elements are the activities, else the parcels, else the record. */
const crop: Compound = {
  name: 'crop',
  paths: [...pathsAt(activityPaths, 'crop_details'), ...activityPaths, ...parcelPaths, ''],
  members: [
    { name: 'crop_type', paths: ['crop_type'], record_paths: ['crop_type'], type: 'code', codes: 'crop_type' },
    elementOrRecordMember('irrigation_type'),
    { name: 'crop_variety', paths: ['variety'], type: 'text', fold: true },
    { name: 'crop_season', paths: ['season'], type: 'text', fold: true },
  ],
  indexed: true,
}

export const farmer: Kind = {
  name: 'farmer',
  title: 'Farmer registry',
  description: 'Farmers, their land and what they grow: one record a farmer.',
  reg_type: { name: 'FR', aliases: ['Farmer', 'FarmerRegistry'] },
  record_types: [
    {
      name: 'Farmer',
      emitted: 'Farmer',
      aliases: ['FRPerson', 'FRPerspn', 'Person'],
      document_types: ['Farmer', 'FRPerson', 'Person'],
      primary_identifier: 'FARMER_ID',
      identifiers: [
        ...pathsAt([...farmerDetailsPaths, ''], 'member_identifier', 'identifier').map(farmerIdSource),
        ...personPaths.map((path) => ({ path, names: 'record' as const })),
        ...pathsAt(personPaths, 'identifier').map(farmerIdSource),
        ...pathsAt(parcelPaths, 'identifier').map((path) => ({ path, names: 'record' as const })),
        ...pathsAt(parcelPaths, 'farm_id').map((path) => ({ path, type: 'FARM_ID', names: 'record' as const })),
      ],
      attributes: [
        ...personAttributes(personPaths),
        ...addressAttributes([...personPaths, ...parcelPaths]),
        { name: 'farmer_type', paths: ['farmer_type'], type: 'text', fold: true },
        ...registrationAttributes(['']),
      ],
      compounds: [parcel, crop],
      keyed_lists: [
        identifierKeyedList([
          ...pathsAt([...farmerDetailsPaths, ''], 'member_identifier', 'identifier'),
          ...pathsAt([...personPaths, ...parcelPaths], 'identifier'),
        ]),
        { name: 'parcel', paths: parcelPaths, identifiers: ['identifier'], values: ['farm_id'] },
      ],
      event_rules: [{ event: 'REGISTER', on: 'new' }],
      relations: [{ name: 'family_details', paths: ['family_details'] }],
      schema: Farmer,
    },
  ],
  identifier_types: [
    { name: 'FARMER_ID', aliases: ['FID'], normaliser: 'code' },
    { name: 'FARM_REG_NO', normaliser: 'code' },
    { name: 'FARM_ID', normaliser: 'code' },
    UIN,
    NID,
  ],
  event_types: [{ name: 'REGISTER', aliases: ['REGISTRATION', 'FRPerson', 'FRPerspn', 'NewFarmer'] }],
  notified_event_types: ['REGISTER'],
  operations: [],
}
