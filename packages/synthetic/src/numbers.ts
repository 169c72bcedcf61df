/**
 * Makes identifier numbers. A number has ten digits and never repeats in one type: it is index × multiplier + offset modulo
 * 10^10, and the multiplier shares no factor with 10. The numbers have no check digit and follow no country's format.
 */
import type { Population } from './stream.ts'

/** The indices of persons are below this. Higher ones are of people whom documents name, but who have no document. */
export const PERSON_INDEX_LIMIT = 1_000_000_000

const IDENTIFIER_NUMBER_MODULUS = 10_000_000_000

/** The types of identifier numbers. Each has a prefix and an offset, so that a person's UIN and BRN have different digits. */
const IDENTIFIER_NUMBER_TYPES = {
  UIN: { prefix: '', salt: 1 },
  BRN: { prefix: 'B-', salt: 2 },
  MRN: { prefix: 'M-', salt: 3 },
  DRN: { prefix: 'D-', salt: 4 },
  HOUSEHOLD_ID: { prefix: 'H-', salt: 5 },
  FARMER_ID: { prefix: 'F-', salt: 6 },
  FARM_REG_NO: { prefix: 'FR-', salt: 7 },
  FARM_ID: { prefix: 'FM-', salt: 8 },
} as const

export type IdentifierNumberType = keyof typeof IDENTIFIER_NUMBER_TYPES

/** Makes an identifier of one type, such as BRN (birth registration number), for an index of a person or thing (below 10^10). */
export function identifierNumber(population: Population, register: IdentifierNumberType, index: number): string {
  const { prefix, salt } = IDENTIFIER_NUMBER_TYPES[register]
  const high = (population.high ^ Math.imul(salt, 0x9e3779b1)) >>> 0
  const low = (population.low ^ Math.imul(salt, 0x85ebca6b)) >>> 0
  const offset = (high % 100_000) * 100_000 + (low % 100_000)
  return prefix + String(scatterIndex(index, offset)).padStart(10, '0')
}

/**
 * The UIN of a parent who is not in the population. It is made from an index above PERSON_INDEX_LIMIT, so that no other
 * person has the number. @param index the index of the child
 */
export function forebearUin(population: Population, index: number, parent: 1 | 2): string {
  return identifierNumber(population, 'UIN', PERSON_INDEX_LIMIT * 2 + index * 2 + parent - 1)
}

/** Computes index × 7,364,829,317 + offset modulo 10^10, in two halves, so that every product is exact in a double. */
function scatterIndex(index: number, offset: number): number {
  const high = ((index * 73_648) % 100_000) * 100_000
  return (index * 29_317 + high + offset) % IDENTIFIER_NUMBER_MODULUS
}
