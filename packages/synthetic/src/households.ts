/**
 * Assigns persons to households. Each block of 55 persons makes 14 households of 1 to 8 persons; the order of their sizes differs
 * from block to block. So the household of a person, and the persons of a household, are found without computing other blocks.
 */
import { type Culture, cultureAtPercent } from './cultures.ts'
import { ERROR_RATES } from './dirt.ts'
import { type HouseholdMember, makeHouseholdMembers } from './families.ts'
import { familyName } from './names.ts'
import { householdPhone } from './phones.ts'
import { type Dwelling, drawDwelling } from './places.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from './stream.ts'

const HOUSEHOLD_SIZES: readonly number[] = [1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8]
export const HOUSEHOLDS_PER_BLOCK = HOUSEHOLD_SIZES.length
export const PERSONS_PER_BLOCK = HOUSEHOLD_SIZES.reduce((sum, size) => sum + size, 0)

export interface Household {
  readonly number: number
  /** The index of the head. The other members have the next indices. */
  readonly first: number
  readonly places: readonly [HouseholdMember, ...HouseholdMember[]]
  readonly culture: Culture
  readonly surname: string
  /** The surname that the spouse was born with; null when it is that of the household. */
  readonly spouse_birth_surname: string | null
  /** True when accents of names are written as combining characters. */
  readonly decomposed: boolean
  readonly phone: string | null
  readonly home: Dwelling
}

/** The last block and household, kept because neighbours are often asked for together. This only saves time. */
let latestSizes: { readonly of: Population; readonly block: number; readonly sizes: readonly number[] } | null = null
let latestHousehold: { readonly of: Population; readonly household: Household } | null = null

/** The sizes of the 14 households of a block, in the order of their numbers. */
export function householdSizesInBlock(population: Population, block: number): readonly number[] {
  if (latestSizes?.of === population && latestSizes.block === block) return latestSizes.sizes
  const sizes = shuffledSizes(population, block)
  latestSizes = { of: population, block, sizes }
  return sizes
}

function shuffledSizes(population: Population, block: number): number[] {
  const stream = new RandomStream(population, STREAM_PURPOSES.block, block)
  const sizes = [...HOUSEHOLD_SIZES]
  for (let last = sizes.length - 1; last > 0; last--) {
    const other = stream.below(last + 1)
    const size = sizes[last] ?? 1
    sizes[last] = sizes[other] ?? 1
    sizes[other] = size
  }
  return sizes
}

/** Makes the household of a person. The latest household is kept, and is not made again. */
export function householdOfPerson(population: Population, index: number): Household {
  const block = Math.floor(index / PERSONS_PER_BLOCK)
  let first = block * PERSONS_PER_BLOCK
  let number = block * HOUSEHOLDS_PER_BLOCK
  for (const size of householdSizesInBlock(population, block)) {
    if (index < first + size) return makeOrReuseHousehold(population, number, first, size)
    first += size
    number += 1
  }
  throw new RangeError(`person ${index} is in no household`)
}

/** The household with this number (0, 1, 2 ...). */
export function householdNumbered(population: Population, number: number): Household {
  const block = Math.floor(number / HOUSEHOLDS_PER_BLOCK)
  const position = number % HOUSEHOLDS_PER_BLOCK
  const sizes = householdSizesInBlock(population, block)
  const before = sizes.slice(0, position).reduce((sum, size) => sum + size, 0)
  return makeOrReuseHousehold(population, number, block * PERSONS_PER_BLOCK + before, sizes[position] ?? 1)
}

function makeOrReuseHousehold(population: Population, number: number, first: number, size: number): Household {
  if (latestHousehold?.of === population && latestHousehold.household.number === number) {
    return latestHousehold.household
  }
  const made = makeHousehold(population, number, first, size)
  latestHousehold = { of: population, household: made }
  return made
}

function makeHousehold(population: Population, number: number, first: number, size: number): Household {
  const stream = new RandomStream(population, STREAM_PURPOSES.household, number)
  const culture = cultureAtPercent(stream.below(100))
  const spouseSurname = stream.chance(0.6) ? familyName(stream, culture) : null
  return {
    number,
    first,
    places: makeHouseholdMembers(stream, first, size),
    culture,
    surname: familyName(stream, culture),
    spouse_birth_surname: spouseSurname,
    decomposed: culture.accented === true && stream.chance(ERROR_RATES.decomposed_name),
    phone: stream.chance(ERROR_RATES.household_phone) ? householdPhone(population, number) : null,
    home: drawDwelling(stream),
  }
}
