/** The farmer registry (public-standard.md 2.8). */
import { Farmer } from '../records/farmer.ts'
import { NID, UIN } from './identifier-types.ts'
import type { Attribute, IdentifierSource, Kind } from './kind.ts'
import { addressAttributes, personAttributes, registrationAttributes, under } from './shared-attributes.ts'

const details = ['farmer_personal_details']
const persons = under(details, 'demographic_info', 'demographic_info.person')
/** Land in the published examples, farms in the newer classes. */
const parcels = ['land_details', 'farm_details']
const activities = under(parcels, 'farming_activities')

const named = (path: string): IdentifierSource => ({ path, type: 'FARMER_ID', names: 'record' })

/** What stands once for every parcel of land, or beside them. */
function ofParcels(name: string, more: Partial<Attribute> = {}): Attribute {
  return { name, paths: [...under(parcels, name), name], type: 'text', fold: true, many: true, ...more }
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
        ...under([...details, ''], 'member_identifier', 'identifier').map(named),
        ...persons.map((path) => ({ path, names: 'record' as const })),
        ...under(persons, 'identifier').map(named),
        ...under(parcels, 'identifier').map((path) => ({ path, names: 'record' as const })),
        ...under(parcels, 'farm_id').map((path) => ({ path, type: 'FARM_ID', names: 'record' as const })),
      ],
      attributes: [
        ...personAttributes(persons),
        ...addressAttributes([...persons, ...parcels]),
        { name: 'farmer_type', paths: ['farmer_type'], type: 'text', fold: true },
        ofParcels('farm_type'),
        {
          name: 'farm_size',
          aliases: ['land_size'],
          paths: ['farm_size', ...under(parcels, 'land_size', 'farm_size')],
          type: 'number',
          many: true,
        },
        ofParcels('land_type'),
        ofParcels('land_ownership', { aliases: ['land_tenure'] }),
        {
          name: 'crop_type',
          paths: [...under(activities, 'crop_details.crop_type', 'crop_type'), 'crop_type'],
          type: 'code',
          codes: 'crop_type',
          many: true,
          indexed: true,
        },
        {
          name: 'irrigation_type',
          paths: [
            ...under(activities, 'crop_details.irrigation_type', 'irrigation_type'),
            ...under(parcels, 'irrigation_type'),
            'irrigation_type',
          ],
          type: 'text',
          fold: true,
          many: true,
        },
        ...registrationAttributes(['']),
      ],
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
  operations: [],
}
