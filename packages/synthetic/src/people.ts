/** A person, the same in every kind of registry. */
import { ageAtCensus, CENSUS_DAY, isoDay, isoTime } from './dates.ts'
import { DIRT } from './dirt.ts'
import type { Place } from './families.ts'
import { type Household, householdOfPerson } from './households.ts'
import { decomposed, type PersonName, personName, type Sex } from './names.ts'
import { forebearUin, numberOf, PERSON_LIMIT } from './numbers.ts'
import { personPhone } from './phones.ts'
import { type Population, PURPOSE, populationOf, Stream } from './stream.ts'

/** Every seventh person lives with a disability; which of the seven depends on the seed alone. */
export const DISABILITY_STRIDE = 7

export interface Person {
  /** Place in the population, from 0. */
  readonly index: number
  readonly uin: string
  readonly brn: string
  readonly name: PersonName
  readonly sex: Sex
  /** The known part of the day: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. */
  readonly birth_date: string
  /** Completed years on the last day of 2025, as if the deceased lived. */
  readonly age: number
  readonly place: Place
  readonly household: Household
  readonly household_id: string
  /** UINs of the parents: members of the household if they live in it, otherwise unlisted forebears. */
  readonly parents: readonly [string, string]
  readonly is_disabled: boolean
  /** In work; only people of working age (15 to 64) can be. */
  readonly is_employed: boolean
  /** Code of the education_level list, as high as the age allows. */
  readonly education_level: string
  readonly phone: string | null
  readonly email: string | null
  /** Date-times, UTC; the second is never before the first. */
  readonly registration_date: string
  readonly last_updated: string
}

/**
 * The person at an index of the population that the seed names.
 * @throws RangeError when index is not a whole number from 0 to 999,999,999
 */
export function personOf(seed: number | string, index: number): Person {
  if (!Number.isInteger(index) || index < 0 || index >= PERSON_LIMIT) {
    throw new RangeError(`index must be a whole number from 0 to ${PERSON_LIMIT - 1}, not ${index}`)
  }
  return personAt(populationOf(seed), index)
}

/** The person at an index. */
export function personAt(population: Population, index: number): Person {
  return memberOf(population, householdOfPerson(population, index), index)
}

/** The person at an index, whose household is already known. */
export function memberOf(population: Population, household: Household, index: number): Person {
  const place = household.places[index - household.first]
  if (place === undefined) throw new RangeError(`person ${index} is not in household ${household.number}`)
  const stream = new Stream(population, PURPOSE.person, index)
  const uin = numberOf(population, 'UIN', index)
  const age = ageAtCensus(place.birth_day)
  const registered = Math.min(place.birth_day + registrationDelay(stream), CENSUS_DAY)
  const updated = stream.between(Math.max(registered, CENSUS_DAY - 1500, latestEvent(place)), CENSUS_DAY)
  const second = stream.below(43_200)
  return {
    index,
    uin,
    brn: numberOf(population, 'BRN', index),
    name: nameOf(stream, household, place),
    sex: place.sex,
    birth_date: knownBirth(stream, place.birth_day),
    age,
    place,
    household,
    household_id: numberOf(population, 'HOUSEHOLD_ID', household.number),
    parents: parentsOf(population, household, place, index),
    is_disabled: index % DISABILITY_STRIDE === disabilityOffset(population),
    is_employed: age >= 15 && age < 65 && stream.chance(0.65),
    education_level: String(stream.below(Math.min(9, 1 + Math.floor(age / 3)))),
    phone: personPhone(stream, population, household.number, household.phone),
    email: stream.chance(DIRT.email) ? `person.${uin}@example.org` : null,
    registration_date: isoTime(registered, second),
    last_updated: isoTime(updated, second + stream.below(43_200)),
  }
}

/** Which person of every DISABILITY_STRIDE lives with a disability. */
export function disabilityOffset(population: Population): number {
  return population.low % DISABILITY_STRIDE
}

/** The day of the latest thing that happened to the person after birth; 0 when nothing did. */
function latestEvent({ death_day, union }: Place): number {
  return Math.max(death_day ?? 0, union?.divorce_day ?? union?.marriage_day ?? 0)
}

function nameOf(stream: Stream, household: Household, place: Place): PersonName {
  const birthSurname = place.role === 'spouse' ? household.spouse_birth_surname : null
  const name = personName(stream, household.culture, place.sex, household.surname, birthSurname)
  return household.decomposed ? decomposed(name) : name
}

/** Most births are registered within two months, some years later. */
function registrationDelay(stream: Stream): number {
  return stream.chance(0.1) ? stream.between(365, 3650) : stream.between(1, 60)
}

function knownBirth(stream: Stream, birthDay: number): string {
  const date = isoDay(birthDay)
  const draw = stream.next() / 0x1_0000_0000
  if (draw < DIRT.birth_year_only) return date.slice(0, 4)
  if (draw < DIRT.birth_year_only + DIRT.birth_month_only) return date.slice(0, 7)
  return date
}

/** A child's parents are the head and the spouse; a parent of the head who lives here is one of the head's. */
function parentsOf(
  population: Population,
  household: Household,
  place: Place,
  index: number,
): readonly [string, string] {
  const { first, places } = household
  const last = places.length - 1
  const known: number[] = []
  if (place.role === 'child') known.push(first, ...(places[1]?.role === 'spouse' ? [first + 1] : []))
  if (place.role === 'head' && places[last]?.role === 'parent') known.push(first + last)
  const parent = (which: 1 | 2): string => {
    const listed = known[which - 1]
    return listed === undefined ? forebearUin(population, index, which) : numberOf(population, 'UIN', listed)
  }
  return [parent(1), parent(2)]
}
