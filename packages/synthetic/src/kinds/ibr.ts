/** Integrated beneficiary registry: one Beneficiary per person, in one to three programmes (public-standard 2.4). */
import { CENSUS_DAY, isoDay, toDottedDate } from '../dates.ts'
import { ERROR_RATES } from '../dirt.ts'
import { makeProgrammePersonName } from '../names.ts'
import { type Person, personAt } from '../people.ts'
import { civilAddress } from '../places.ts'
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
import { type Programme, programmesOf } from './programmes.ts'

/** Makes IBR documents: document i is about person i. Numbers and flags are texts, as the specification has them. */
export const ibr: KindGenerator = { kind: 'ibr', document: beneficiaryDocument }

/** The code for a dead person in the IBR enrolment_status list, with its label. */
const DECEASED_STATUS = ['2', 'Deceased'] as const
/** Other codes of that list with their labels. A pair that is listed several times is chosen more often. */
const ENROLMENT_STATUSES = [
  ['1', 'Active'],
  ['1', 'Active'],
  ['1', 'Active'],
  ['1', 'Active'],
  ['3', 'Graduated'],
  ['4', 'Suspended'],
] as const

function beneficiaryDocument(population: Population, index: number): object {
  const person = personAt(population, index)
  const stream = new RandomStream(population, STREAM_PURPOSES.ibr, index)
  const { uin, place } = person
  return {
    '@context': JSON_LD_CONTEXT,
    '@id': `urn:rollcall:synthetic:beneficiary:${uin}`,
    '@type': 'Beneficiary',
    assistance_unit: stream.pick(['1', '1', '2', '3']),
    member: {
      member_identifier: uin,
      demographic_info: { person: demographics(stream, person) },
      relationship_head: relationshipToHead(person),
      ...(place.role !== 'head' && omitAtRandom(stream, { related_person: makeHeadRelation(person) })),
      is_disabled: person.is_disabled ? '1' : '0',
      ...omitAtRandom(stream, {
        marital_status: usualOrOtherSpelling(stream, place.marital_status, MARITAL_WORDS_BY_CODE[place.marital_status]),
      }),
      ...omitAtRandom(stream, { employment_status: employmentStatus(stream, person) }),
      ...omitAtRandom(stream, { income_level: '1', language_code: ['en'] }),
      ...omitAtRandom(stream, { education_level: person.education_level }),
      registration_date: person.registration_date,
      last_update: person.last_updated,
      programme_identifier: enrolments(stream, population, person),
    },
  }
}

function demographics(stream: RandomStream, person: Person): object {
  const { home } = person.household
  const death = person.place.death_day
  return {
    identifier_type: 'UIN',
    identifier_value: person.uin,
    name: makeProgrammePersonName(person.name),
    sex: usualOrOtherSpelling(stream, person.sex === 'female' ? 'F' : 'M', person.sex),
    birth_date: stream.chance(ERROR_RATES.birth_local_spelling) ? toDottedDate(person.birth_date) : person.birth_date,
    ...(death !== null && omitAtRandom(stream, { death_date: isoDay(death) })),
    ...omitAtRandom(stream, { address: civilAddress(home, false) }),
    ...(person.phone !== null && { phone_number: [person.phone] }),
    ...(person.email !== null && { email: [person.email] }),
  }
}

function makeHeadRelation(person: Person): object {
  return { relationship_type: relationshipToHead(person), group_identifier: identifier('HOUSEHOLD_ID', person.household_id) }
}

/** The enrolments of a person: an object for one enrolment, an array for two or three. */
function enrolments(stream: RandomStream, population: Population, person: Person): object {
  const [only, ...more] = programmesOf(population, person)
  const first = enrolment(stream, person, only)
  return more.length === 0 ? first : [first, ...more.map((programme) => enrolment(stream, person, programme))]
}

function enrolment(stream: RandomStream, person: Person, programme: Programme): object {
  const { programme_identifier, programme_name, benefit_type, benefit_frequency, benefit_value } = programme
  const enrolled = stream.between(Math.max(person.place.birth_day + 1, CENSUS_DAY - 4000), CENSUS_DAY)
  const changed = stream.between(enrolled, CENSUS_DAY)
  const gone = person.place.death_day !== null && stream.chance(0.7)
  const [status, label] = gone ? DECEASED_STATUS : stream.pick(ENROLMENT_STATUSES)
  return {
    programme: { programme_identifier, programme_name },
    enrolment_date: isoDay(enrolled),
    enrolment_status: usualOrOtherSpelling(stream, status, label),
    ...omitAtRandom(stream, { status_change_date: isoDay(changed) }),
    ...omitAtRandom(stream, {
      benefits: { benefit_type, benefit_date: isoDay(changed), benefit_value: String(benefit_value), benefit_frequency },
    }),
  }
}
