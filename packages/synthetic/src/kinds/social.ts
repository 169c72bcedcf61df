/** Social registry: households as Group documents and the people in them as Member documents (public-standard 2.6). */
import { CENSUS_DAY, isoTime } from '../dates.ts'
import { ERROR_RATES } from '../dirt.ts'
import {
  HOUSEHOLDS_PER_BLOCK,
  type Household,
  householdNumbered,
  householdSizesInBlock,
  PERSONS_PER_BLOCK,
} from '../households.ts'
import { type Person, personInHousehold } from '../people.ts'
import { addressLine, socialAddress } from '../places.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from '../stream.ts'
import {
  employmentStatus,
  identifier,
  JSON_LD_CONTEXT,
  type KindGenerator,
  MARITAL_WORDS_BY_CODE,
  omitAtRandom,
  relationshipToHead,
  usualOrOtherSpelling,
} from './parts.ts'

/**
 * Makes social documents: for each household a Group, then a Member for each person. So the Group comes before its Members, and
 * only the household at the end of the documents may lack some. Of each 69 documents in order, 14 are Groups and 55 are Members.
 */
export const social: KindGenerator = { kind: 'social', document: socialDocument }

const DOCUMENTS_PER_BLOCK = HOUSEHOLDS_PER_BLOCK + PERSONS_PER_BLOCK
const LIMITATION_CODES = ['VIS_SS', 'HEAR_SS', 'MOB_SS', 'COG_SS', 'SC_SS', 'COM_SS'] as const

function socialDocument(population: Population, ordinal: number): object {
  const block = Math.floor(ordinal / DOCUMENTS_PER_BLOCK)
  let number = block * HOUSEHOLDS_PER_BLOCK
  let position = ordinal % DOCUMENTS_PER_BLOCK
  for (const size of householdSizesInBlock(population, block)) {
    if (position <= size) break
    position -= size + 1
    number += 1
  }
  const household = householdNumbered(population, number)
  if (position === 0) return groupDocument(population, household)
  return memberDocument(population, personInHousehold(population, household, household.first + position - 1))
}

function groupDocument(population: Population, household: Household): object {
  const { number, first, home, places } = household
  const head = personInHousehold(population, household, first)
  const others = places.slice(1).map((_, at) => personInHousehold(population, household, first + 1 + at))
  const stream = new RandomStream(population, STREAM_PURPOSES.group, number)
  const poor = povertyScore(population, household)
  const registered = stream.between(head.place.birth_day + 6600, CENSUS_DAY - 30)
  const second = stream.below(86_400)
  const geo = { '@type': 'GeoCoordinates', latitude: String(home.latitude), longitude: String(home.longitude) }
  return {
    '@context': JSON_LD_CONTEXT,
    '@id': `urn:rollcall:synthetic:group:${head.household_id}`,
    '@type': 'spdci:Group',
    group_identifier: [identifier('HOUSEHOLD_ID', head.household_id)],
    group_type: usualOrOtherSpelling(stream, 'family', stream.pick(['2', '3', 'Household'])),
    geographical_location: home.locality,
    place: { '@type': 'Place', geo, address: `${addressLine(home)}, ${home.locality}, ${home.region}` },
    place_address: 1,
    ...(poor !== null && { poverty_score: poor, poverty_score_type: 'PMT' }),
    group_head_info: memberInGroup(head),
    group_size: places.length,
    member_list: [head, ...others].map(memberInGroup),
    registration_date: isoTime(registered, second),
    last_updated: isoTime(stream.between(Math.max(registered, CENSUS_DAY - 1500), CENSUS_DAY), second),
    additional_attributes: [{ region: home.region_code }, { district: home.sub_region_code }],
  }
}

/** The poverty score of the household, 0.0 to 10.0 (a lower score is poorer); null when it was not assessed. */
function povertyScore(population: Population, household: Household): number | null {
  const stream = new RandomStream(population, STREAM_PURPOSES.poverty, household.number)
  return stream.chance(ERROR_RATES.missing_member) ? null : stream.below(101) / 10
}

/** A person as an element of a Group's `member_list`, with fewer members than in the person's own Member document. */
export function memberInGroup(person: Person): object {
  return {
    '@type': 'Member',
    member_identifier: [identifier('UIN', person.uin)],
    demographic_info: {
      '@type': 'SRPerson',
      identifier: [identifier('UIN', person.uin)],
      name: { '@type': 'Name', ...person.name },
      sex: person.sex,
      birth_date: person.birth_date,
    },
    related_person: [{ '@type': 'RelatedPerson', relationship_type: relationshipToHead(person) }],
    is_disabled: person.is_disabled,
    marital_status: person.place.marital_status,
  }
}

function memberDocument(population: Population, person: Person): object {
  const stream = new RandomStream(population, STREAM_PURPOSES.member, person.index)
  const { uin, place, household, is_disabled } = person
  const poor = povertyScore(population, household)
  const limitation = {
    functional_limitation_type: stream.pick(LIMITATION_CODES),
    functional_severity: String(stream.between(2, 4)),
  }
  return {
    '@context': JSON_LD_CONTEXT,
    '@id': `urn:rollcall:synthetic:social:${uin}`,
    '@type': 'Member',
    member_identifier: [identifier('UIN', uin)],
    demographic_info: {
      '@type': 'SRPerson',
      identifier: [identifier('UIN', uin)],
      name: { '@type': 'Name', ...person.name },
      sex: usualOrOtherSpelling(stream, person.sex, person.sex === 'female' ? 'FeMale' : 'Male'),
      ...omitAtRandom(stream, { address: socialAddress(household.home) }),
      birth_date: person.birth_date,
      ...(person.phone !== null && { phone_number: [person.phone] }),
      ...(person.email !== null && { email: [person.email] }),
      registration_date: person.registration_date,
    },
    is_disabled,
    ...(is_disabled && omitAtRandom(stream, { disability_info: [limitation] })),
    ...omitAtRandom(stream, {
      marital_status: usualOrOtherSpelling(stream, place.marital_status, MARITAL_WORDS_BY_CODE[place.marital_status]),
    }),
    ...omitAtRandom(stream, { employment_status: employmentStatus(stream, person) }),
    ...omitAtRandom(stream, { education_level: person.education_level }),
    additional_attributes: [
      { household_id: person.household_id },
      { relationship_head: relationshipToHead(person) },
      ...(poor !== null ? [{ poverty_score: poor }] : []),
    ],
    registration_date: person.registration_date,
    last_updated: person.last_updated,
  }
}
