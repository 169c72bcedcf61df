/** Employment support system: one Member per person (public-standard 2.5). */
import { CENSUS_DAY, isoDay } from '../dates.ts'
import { identifierNumber } from '../numbers.ts'
import { type Person, personAt } from '../people.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from '../stream.ts'
import {
  identifier,
  isOfWorkingAge,
  JSON_LD_CONTEXT,
  type KindGenerator,
  omitAtRandom,
  relationshipToHead,
  usualOrOtherSpelling,
} from './parts.ts'

/** Makes ESS documents: document i is about person i. Documents of people outside of working age have no employment. */
export const ess: KindGenerator = { kind: 'ess', document: essMember }

/** Job titles, each with its code from the occupation list. */
const JOBS = [
  ['welder', '7'],
  ['baker', '7'],
  ['nurse', '2'],
  ['driver', '8'],
  ['teacher', '2'],
  ['clerk', '4'],
  ['farm hand', '6'],
  ['guard', '5'],
  ['porter', '9'],
] as const
const EMPLOYERS = ['Copper Coast Works', 'Tarn Mills', 'Saltmarsh Clinic', 'Old Forest Timber'] as const
const LANGUAGES = ['en', 'fr', 'ar', 'am', 'hi', 'uk', 'zh'] as const

function essMember(population: Population, index: number): object {
  const person = personAt(population, index)
  const stream = new RandomStream(population, STREAM_PURPOSES.ess, index)
  const { uin, place } = person
  return {
    '@context': JSON_LD_CONTEXT,
    '@id': `urn:rollcall:synthetic:member:${uin}`,
    '@type': 'spdci:member',
    member_identifier: [identifier('UIN', uin)],
    demographic_info: {
      '@type': 'ESSPerson',
      identifier: [identifier('UIN', uin)],
      name: { '@type': 'Name', ...person.name },
      sex: person.sex,
      birth_date: person.birth_date,
      ...(person.phone !== null && { phone_number: [person.phone] }),
      ...(person.email !== null && { email: [person.email] }),
    },
    ...(place.role !== 'head' && omitAtRandom(stream, { related_person: [makeHeadRelation(population, person)] })),
    is_disabled: person.is_disabled,
    ...omitAtRandom(stream, { marital_status: place.marital_status }),
    ...(isOfWorkingAge(person) && employmentMembers(stream, person)),
    ...omitAtRandom(stream, { income_level: '1' }),
    ...omitAtRandom(stream, { language_code: [stream.pick(LANGUAGES)] }),
    ...omitAtRandom(stream, { education_level: person.education_level }),
    additional_attributes: [{ enrolment_status: enrolmentStatus(stream, person) }],
    registration_date: person.registration_date,
    last_updated: person.last_updated,
  }
}

function makeHeadRelation(population: Population, person: Person): object {
  const related_member = { '@type': 'Member', member_identifier: identifierNumber(population, 'UIN', person.household.first) }
  return { '@type': 'RelatedPerson', relationship_type: relationshipToHead(person), related_member }
}

/** The employment of a person of working age: a job, or the reason why there is none. */
function employmentMembers(stream: RandomStream, person: Person): object {
  if (!person.is_employed) {
    const reason = { unemployment_reason: String(stream.between(1, 8)) }
    return { employment_status: usualOrOtherSpelling(stream, 'unemployed', '2'), ...omitAtRandom(stream, reason) }
  }
  const [job_title, code] = stream.pick(JOBS)
  const earliest = Math.max(CENSUS_DAY - 5000, person.place.birth_day + 5600)
  return {
    employment_status: usualOrOtherSpelling(stream, 'employed', stream.pick(['1', '4', '6'])),
    occupation: usualOrOtherSpelling(stream, code, job_title),
    ...omitAtRandom(stream, {
      employment_info: [
        {
          start_date: isoDay(stream.between(earliest, CENSUS_DAY)),
          job_title,
          employer: stream.pick(EMPLOYERS),
          employment_type: String(stream.between(1, 5)),
        },
      ],
    }),
  }
}

/** The status of a person's enrolment. The ESS does not know of every death. */
function enrolmentStatus(stream: RandomStream, person: Person): string {
  if (person.place.death_day !== null && stream.chance(0.7)) return 'Deceased'
  return stream.pick(['Active', 'Active', 'Active', 'Active', 'Inactive', 'Suspended', 'Awaiting Renewal', '1'])
}
