/** Civil registry: one CRVS_Person per person of the population (public-standard 2.3). */
import { isoDay, isoTime } from '../dates.ts'
import { ERROR_RATES } from '../dirt.ts'
import { identifierNumber } from '../numbers.ts'
import { type Person, personAt } from '../people.ts'
import { addressLine, civilAddress, drawDwelling } from '../places.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from '../stream.ts'
import {
  identifier,
  JSON_LD_CONTEXT,
  type KindGenerator,
  MARITAL_WORDS_BY_CODE,
  omitAtRandom,
  usualOrOtherSpelling,
} from './parts.ts'

/** Makes civil documents: document i is about person i. */
export const civil: KindGenerator = { kind: 'civil', document: civilPerson }

function civilPerson(population: Population, index: number): object {
  const person = personAt(population, index)
  const { place, household } = person
  const stream = new RandomStream(population, STREAM_PURPOSES.civil, index)
  const { union, death_day } = place
  const blank = stream.chance(ERROR_RATES.empty_string)
  return {
    '@context': JSON_LD_CONTEXT,
    '@id': `urn:rollcall:synthetic:${person.uin}`,
    '@type': 'CRVS_Person',
    identifier: [
      identifier('UIN', person.uin),
      identifier('BRN', person.brn),
      ...(union ? [identifier('MRN', identifierNumber(population, 'MRN', union.number))] : []),
      ...(death_day !== null ? [identifier('DRN', identifierNumber(population, 'DRN', index))] : []),
    ],
    name: { '@type': 'Name', ...person.name },
    ...(person.phone !== null && { phone_number: [person.phone] }),
    ...(person.email !== null && { email: [person.email] }),
    sex: person.sex,
    birth_date: birthDate(stream, person),
    ...omitAtRandom(stream, { birth_place: birthPlace(stream) }),
    ...(death_day !== null
      ? { death_date: isoDay(death_day), ...omitAtRandom(stream, { death_place: household.home.locality }) }
      : blank && { death_date: '', death_place: '' }),
    address: civilAddress(household.home, stream.chance(0.3)),
    ...omitAtRandom(stream, {
      marital_status: usualOrOtherSpelling(stream, place.marital_status, MARITAL_WORDS_BY_CODE[place.marital_status]),
    }),
    ...(union ? { marriage_date: isoDay(union.marriage_day) } : blank && { marriage_date: '' }),
    ...(union?.divorce_day ? { divorce_date: isoDay(union.divorce_day) } : blank && { divorce_date: '' }),
    parent1_identifier: identifier('UIN', person.parents[0]),
    parent2_identifier: identifier('UIN', person.parents[1]),
    registration_date: person.registration_date,
    last_updated: person.last_updated,
  }
}

/** The birth date. Sometimes a full date gets a time, with or without an offset; its first ten characters stay the same. */
function birthDate(stream: RandomStream, person: Person): string {
  const full = person.birth_date.length === 10
  if (!full || !stream.chance(ERROR_RATES.birth_date_time)) return person.birth_date
  const time = isoTime(person.place.birth_day, stream.below(86_400)).slice(0, 19)
  return time + stream.pick(['', 'Z', '+02:00', '-05:00'])
}

function birthPlace(stream: RandomStream): object {
  const born = drawDwelling(stream)
  return {
    name: `${born.locality} Hospital`,
    geo: { '@type': 'GeoCoordinates', latitude: born.latitude, longitude: born.longitude },
    address_line: addressLine(born),
    contained_in_place: born.region,
  }
}
