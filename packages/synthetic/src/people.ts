/** Makes persons, the same in every kind of registry. */
import { ageAtCensus, CENSUS_DAY, isoDay, isoTime } from './dates.ts'
import { ERROR_RATES } from './dirt.ts'
import type { HouseholdMember } from './families.ts'
import { type Household, householdOfPerson } from './households.ts'
import { decomposeAccents, type PersonName, personName, type Sex } from './names.ts'
import { forebearUin, identifierNumber, PERSON_INDEX_LIMIT } from './numbers.ts'
import { personPhone } from './phones.ts'
import { type Population, populationOf, RandomStream, STREAM_PURPOSES } from './stream.ts'

/** One person of every seven has a disability; the seed decides which one. */
export const PERSONS_PER_DISABILITY = 7

export interface Person {
  /** The number of the person in the population, from 0. */
  readonly index: number
  readonly uin: string
  readonly brn: string
  readonly name: PersonName
  readonly sex: Sex
  /** The known part of the birth date: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. */
  readonly birth_date: string
  /** The age in completed years on the census day, also of people who have died. */
  readonly age: number
  readonly place: HouseholdMember
  readonly household: Household
  readonly household_id: string
  /** The UINs of the parents: of members of the household, or of people who are not in the population. */
  readonly parents: readonly [string, string]
  readonly is_disabled: boolean
  /** True for a person who has work; only people of working age (15 to 64) can. */
  readonly is_employed: boolean
  /** A code of the education_level list that suits the age. */
  readonly education_level: string
  readonly phone: string | null
  readonly email: string | null
  /** registration_date and last_updated are date-times in UTC; last_updated is never earlier. */
  readonly registration_date: string
  readonly last_updated: string
}

/**
 * The person with an index, in the population that the seed names.
 * @throws RangeError the index is not a whole number from 0 to 999,999,999
 */
export function syntheticPerson(seed: number | string, index: number): Person {
  if (!Number.isInteger(index) || index < 0 || index >= PERSON_INDEX_LIMIT) {
    throw new RangeError(`index must be a whole number from 0 to ${PERSON_INDEX_LIMIT - 1}, not ${index}`)
  }
  return personAt(populationOf(seed), index)
}

/** Makes a person: the same population and index give the same person. */
export function personAt(population: Population, index: number): Person {
  return personInHousehold(population, householdOfPerson(population, index), index)
}

/** Makes the person with an index, when the caller knows the household. */
export function personInHousehold(population: Population, household: Household, index: number): Person {
  const place = household.places[index - household.first]
  if (place === undefined) throw new RangeError(`person ${index} is not in household ${household.number}`)
  const stream = new RandomStream(population, STREAM_PURPOSES.person, index)
  const uin = identifierNumber(population, 'UIN', index)
  const age = ageAtCensus(place.birth_day)
  // A birth is mostly registered within two months, sometimes after years.
  const delay = stream.chance(0.1) ? stream.between(365, 3650) : stream.between(1, 60)
  const registered = Math.min(place.birth_day + delay, CENSUS_DAY)
  const { death_day, union } = place
  const latestEvent = Math.max(death_day ?? 0, union?.divorce_day ?? union?.marriage_day ?? 0)
  const updated = stream.between(Math.max(registered, CENSUS_DAY - 1500, latestEvent), CENSUS_DAY)
  const second = stream.below(43_200)
  return {
    index,
    uin,
    brn: identifierNumber(population, 'BRN', index),
    name: drawPersonName(stream, household, place),
    sex: place.sex,
    birth_date: makeRecordedBirthDate(stream, place.birth_day),
    age,
    place,
    household,
    household_id: identifierNumber(population, 'HOUSEHOLD_ID', household.number),
    parents: parentUins(population, household, place, index),
    is_disabled: index % PERSONS_PER_DISABILITY === disabledPersonOffset(population),
    is_employed: age >= 15 && age < 65 && stream.chance(0.65),
    education_level: String(stream.below(Math.min(9, 1 + Math.floor(age / 3)))),
    phone: personPhone(stream, population, household.number, household.phone),
    email: stream.chance(ERROR_RATES.email) ? `person.${uin}@example.org` : null,
    registration_date: isoTime(registered, second),
    last_updated: isoTime(updated, second + stream.below(43_200)),
  }
}

/** The place, from 0 to 6, of the disabled person among every seven. */
export function disabledPersonOffset(population: Population): number {
  return population.low % PERSONS_PER_DISABILITY
}

function drawPersonName(stream: RandomStream, household: Household, place: HouseholdMember): PersonName {
  const birthSurname = place.role === 'spouse' ? household.spouse_birth_surname : null
  const name = personName(stream, household.culture, place.sex, household.surname, birthSurname)
  return household.decomposed ? decomposeAccents(name) : name
}

function makeRecordedBirthDate(stream: RandomStream, birthDay: number): string {
  const date = isoDay(birthDay)
  const draw = stream.next() / 0x1_0000_0000
  if (draw < ERROR_RATES.birth_year_only) return date.slice(0, 4)
  if (draw < ERROR_RATES.birth_year_only + ERROR_RATES.birth_month_only) return date.slice(0, 7)
  return date
}

/**
 * The UINs of a person's two parents. A child's parents are the head and the spouse; one parent of the head may live in the
 * household. All other parents are not in the population (`forebearUin`).
 */
function parentUins(
  population: Population,
  household: Household,
  place: HouseholdMember,
  index: number,
): readonly [string, string] {
  const { first, places } = household
  const last = places.length - 1
  const known: number[] = []
  if (place.role === 'child') known.push(first, ...(places[1]?.role === 'spouse' ? [first + 1] : []))
  if (place.role === 'head' && places[last]?.role === 'parent') known.push(first + last)
  const parent = (which: 1 | 2): string => {
    const listed = known[which - 1]
    return listed === undefined ? forebearUin(population, index, which) : identifierNumber(population, 'UIN', listed)
  }
  return [parent(1), parent(2)]
}
