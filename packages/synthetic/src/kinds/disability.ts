/** Disability registry: one DisabledPerson for every seventh person of the population (public-standard 2.7). */
import { firstAndLastName } from '../names.ts'
import { disabledPersonOffset, PERSONS_PER_DISABILITY, type Person, personAt } from '../people.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from '../stream.ts'
import { identifier, JSON_LD_CONTEXT, type KindGenerator, omitAtRandom, usualOrOtherSpelling } from './parts.ts'
import { programmesOf } from './programmes.ts'

/**
 * Makes disability documents: document i is about the i-th person with `is_disabled`. These are the same persons in every kind.
 */
export const disability: KindGenerator = {
  kind: 'disability',
  document: (population, ordinal) =>
    disabledPerson(population, personAt(population, ordinal * PERSONS_PER_DISABILITY + disabledPersonOffset(population))),
}

/** Pairs of the usual and another spelling. A pair that is listed several times is chosen more often. */
type SpellingPairs = readonly [SpellingPair, ...SpellingPair[]]
type SpellingPair = readonly [usual: string, other: string]

const DISABILITY_STATUSES = [
  ['Approved', '0'],
  ['Approved', '0'],
  ['Approved', '0'],
  ['Pending', '1'],
  ['Expired', '2'],
] as const satisfies SpellingPairs
const DISABILITY_LEVELS = [
  ['High support needs', '1'],
  ['Severe', '2'],
  ['Moderate', '3'],
  ['Mild', '4'],
] as const satisfies SpellingPairs
const ASSISTANCE_TYPES = ['basic_activity', 'mobility', 'communication', 'decision_making', 'multiple'] as const

function disabledPerson(population: Population, person: Person): object {
  const stream = new RandomStream(population, STREAM_PURPOSES.disability, person.index)
  const { uin } = person
  const [programme] = programmesOf(population, person)
  return {
    '@context': JSON_LD_CONTEXT,
    '@id': `urn:rollcall:synthetic:disabled:${uin}`,
    '@type': 'DisabledPerson',
    personal_details: {
      identifier: [identifier('UIN', uin)],
      member_identifier: uin,
      name: firstAndLastName(person.name),
      date_of_birth: person.birth_date,
      gender: person.sex,
    },
    disability_status: drawSpelling(stream, DISABILITY_STATUSES),
    disability_level: drawSpelling(stream, DISABILITY_LEVELS),
    disability_details: Array.from({ length: stream.between(1, 2) }, () => makeImpairment(stream)),
    ...omitAtRandom(stream, { disability_support: [makeSupport(stream)] }),
    ...omitAtRandom(stream, { transport_requirement: String(stream.below(3)) }),
    ...omitAtRandom(stream, { housing_type: String(stream.between(1, 4)) }),
    ...omitAtRandom(stream, {
      programs_enrollments: [{ programme_name: programme.programme_name, programme_identifier: programme.programme_identifier }],
    }),
    registration_date: person.registration_date,
    last_updated: person.last_updated,
  }
}

function drawSpelling(stream: RandomStream, spellings: SpellingPairs): string {
  const [usual, other] = stream.pick(spellings)
  return usualOrOtherSpelling(stream, usual, other)
}

function makeImpairment(stream: RandomStream): object {
  return {
    impairment_type: String(stream.between(1, 6)),
    impairment_level: String(stream.between(1, 4)),
    ...omitAtRandom(stream, { impairment_cause: String(stream.below(9)) }),
    ...omitAtRandom(stream, { age_on_set: String(stream.below(4)) }),
  }
}

function makeSupport(stream: RandomStream): object {
  return {
    human_assistance: {
      type: stream.pick(ASSISTANCE_TYPES),
      frequency: String(stream.between(1, 5)),
      support_status: String(stream.below(2)),
      relationship: stream.pick(['SPS', 'CHILD', 'PRN', 'SIB']),
    },
    assistive_technology: [String(stream.between(1, 3))],
    housing_support: [stream.pick(['home_adaptation', 'relocation', 'utility_cost'])],
    medical_care: [stream.pick(['maintenance_medicine', 'specialized_habitation', 'constant_healthcare'])],
    animal_assistance: stream.chance(0.1) ? ['service_dog'] : [],
  }
}
