/** Farmer registry: one Farmer for the head of every second household (public-standard 2.8). */
import { householdNumbered } from '../households.ts'
import { firstAndLastName } from '../names.ts'
import { identifierNumber } from '../numbers.ts'
import { type Person, personInHousehold } from '../people.ts'
import { civilAddress } from '../places.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from '../stream.ts'
import { identifier, JSON_LD_CONTEXT, type KindGenerator, omitAtRandom } from './parts.ts'

/** Makes farmer documents: document i is about the head of household 2i. */
export const farmer: KindGenerator = {
  kind: 'farmer',
  document: (population, ordinal) => {
    const household = householdNumbered(population, ordinal * 2)
    return farmerDocument(population, personInHousehold(population, household, household.first))
  },
}

const AREA_UNITS = ['H', 'H', 'H', 'AC', 'DU', 'SQM'] as const
const IRRIGATION_TYPES = ['rainfed', 'canal', 'well', 'drip'] as const
const SEASONS = ['short rains', 'long rains', 'dry'] as const

function farmerDocument(population: Population, person: Person): object {
  const stream = new RandomStream(population, STREAM_PURPOSES.farmer, person.index)
  const { household } = person
  const number = (register: 'FARMER_ID' | 'FARM_REG_NO' | 'FARM_ID') =>
    identifier(register, identifierNumber(population, register, person.index))
  return {
    '@context': JSON_LD_CONTEXT,
    '@id': `urn:rollcall:synthetic:farmer:${person.uin}`,
    '@type': 'Farmer',
    farmer_personal_details: {
      member_identifier: [number('FARMER_ID'), number('FARM_REG_NO'), number('FARM_ID'), identifier('UIN', person.uin)],
      demographic_info: {
        identifier: [identifier('UIN', person.uin)],
        name: firstAndLastName(person.name),
        date_of_birth: person.birth_date,
        gender: person.sex,
        ...(person.phone !== null && { phone_number: [person.phone] }),
      },
    },
    family_details: {
      '@type': 'spdci:Group',
      group_identifier: [identifier('HOUSEHOLD_ID', person.household_id)],
      group_type: '3',
      group_size: household.places.length,
    },
    land_details: Array.from({ length: stream.between(1, 2) }, () => makeLand(stream, person)),
    farmer_type: String(stream.between(1, 6)),
    ...omitAtRandom(stream, {
      machineries_details: [{ type: stream.pick(['10', '20', '31', '37']), count: stream.between(1, 3) }],
    }),
    registration_date: person.registration_date,
    last_updated: person.last_updated,
  }
}

function makeLand(stream: RandomStream, person: Person): object {
  const { home } = person.household
  return {
    land_type: String(stream.between(1, 6)),
    land_ownership: String(stream.between(1, 6)),
    land_size: stream.between(1, 400) / 10,
    measurement: stream.pick(AREA_UNITS),
    ...omitAtRandom(stream, { address: civilAddress(home, false) }),
    farming_activities: [
      {
        crop_details: [makeCrop(stream)],
        ...omitAtRandom(stream, { animal_details: [{ type: String(stream.between(1, 8)), count: stream.between(1, 60) }] }),
        aqua_farming: stream.chance(0.05),
      },
    ],
  }
}

function makeCrop(stream: RandomStream): object {
  return {
    crop_type: String(stream.between(1, 9)),
    variety: 'local',
    season: stream.pick(SEASONS),
    ...omitAtRandom(stream, { irrigation_type: stream.pick(IRRIGATION_TYPES) }),
  }
}
