/** Small parts of documents that several kinds use. */
import { ERROR_RATES } from '../dirt.ts'
import type { Person } from '../people.ts'
import type { Population, RandomStream } from '../stream.ts'

/** Makes the documents of one kind, numbered 0, 1, 2 ... */
export interface KindGenerator {
  /** The name of the kind in the protocol package: civil, ibr ... */
  readonly kind: string
  /** Makes the document with this number, the same for the same population. */
  readonly document: (population: Population, ordinal: number) => object
}

/** The `@context` of every document: addresses as in the public standard, which nobody fetches. */
export const JSON_LD_CONTEXT = ['https://schema.spdci.org/common/v1', 'https://schema.spdci.org/core/v1'] as const

/** An Identifier object (public-standard 2.1). */
export function identifier(identifier_type: string, identifier_value: string): object {
  return { '@type': 'Identifier', identifier_type, identifier_value }
}

/** Returns the given members, or sometimes none, for the optional members of a document. */
export function omitAtRandom(stream: RandomStream, members: object): object {
  return stream.chance(ERROR_RATES.missing_member) ? {} : members
}

/** Returns the usual spelling of a code, or sometimes the other spelling. */
export function usualOrOtherSpelling(stream: RandomStream, usual: string, other: string): string {
  return stream.chance(ERROR_RATES.other_spelling) ? other : usual
}

/** For each code of marital_status, its spelling in words. */
export const MARITAL_WORDS_BY_CODE = { S: 'single', M: 'Married', W: 'Widow', D: 'Divorced' } as const

/** The relation of a person to the head of the household, as a code of the relationship_type list. */
export function relationshipToHead(person: Person): string {
  const { role, sex } = person.place
  return RELATIONSHIPS[role][sex]
}

const RELATIONSHIPS = {
  head: { female: 'SELF', male: 'SELF' },
  spouse: { female: 'WIFE', male: 'HUSB' },
  child: { female: 'DAU', male: 'SON' },
  parent: { female: 'MTH', male: 'FTH' },
} as const

/** The employment_status in beneficiary and social records: the code, or sometimes the word. */
export function employmentStatus(stream: RandomStream, person: Person): string {
  return person.is_employed ? usualOrOtherSpelling(stream, '1', 'employed') : usualOrOtherSpelling(stream, '2', 'unemployed')
}

/** True from 15 to 64 completed years. */
export function isOfWorkingAge(person: Person): boolean {
  return person.age >= 15 && person.age < 65
}
