/** The schema of a farmer in the farmer registry (public-standard.md 2.8). */
import Type from 'typebox'
import { Group } from './group.ts'
import {
  Address,
  CalendarDate,
  codeSchema,
  Identifier,
  jsonLdMembers,
  Name,
  Place,
  partialObject,
  registrationTimes,
} from './parts.ts'

const FarmingActivity = partialObject('FarmingActivity', {
  crop_details: Type.Array(
    partialObject('CropDetails', {
      crop_type: codeSchema('crop_type'),
      variety: Type.String(),
      season: Type.String(),
      irrigation_type: Type.String(),
    }),
  ),
  animal_details: Type.Array(partialObject('Animals', { type: Type.String(), count: Type.Number() })),
  aqua_farming: Type.Unknown(),
})

export const Farmer = partialObject('Farmer', {
  ...jsonLdMembers,
  farmer_personal_details: partialObject('FarmerPersonalDetails', {
    ...jsonLdMembers,
    member_identifier: Type.Union([Type.String(), Type.Array(Identifier)]),
    demographic_info: partialObject('FarmerDemographicInfo', {
      identifier: Type.Array(Identifier),
      name: Name,
      date_of_birth: CalendarDate,
      gender: codeSchema('sex'),
    }),
  }),
  family_details: Group,
  land_details: Type.Array(
    partialObject('LandDetails', {
      land_type: Type.String(),
      land_ownership: Type.String(),
      land_size: Type.Number(),
      measurement: codeSchema('area_unit'),
      address: Address,
      farming_activities: Type.Array(FarmingActivity),
    }),
  ),
  farm_type: Type.String(),
  farm_details: Type.Array(partialObject('FarmDetails', { place: Place, farming_activities: Type.Array(FarmingActivity) })),
  farmer_type: Type.String(),
  machineries_details: Type.Array(partialObject('Machinery', { type: Type.String(), count: Type.Number() })),
  ...registrationTimes,
})
