/** Small parts that documents of several kinds are put together from. */
import { DIRT } from '../dirt.ts'
import type { Person } from '../people.ts'
import type { Population, Stream } from '../stream.ts'

/** The documents of one kind: one for each ordinal 0, 1, 2 ... */
export interface KindGenerator {
  /** The kind's name in the protocol package: civil, ibr ... */
  readonly kind: string
  /** The document of an ordinal, a pure function of its two arguments. */
  readonly document: (population: Population, ordinal: number) => object
}

/** The `@context` of every document: plain addresses as in the public standard; nobody fetches them. */
export const CONTEXT = ['https://schema.spdci.org/common/v1', 'https://schema.spdci.org/core/v1'] as const

/** An identifier object (public-standard 2.1). */
export function identifier(identifier_type: string, identifier_value: string): object {
  return { '@type': 'Identifier', identifier_type, identifier_value }
}

/** The members given, or now and then none: to be spread into a document. */
export function mostly(stream: Stream, members: object): object {
  return stream.chance(DIRT.missing_member) ? {} : members
}

/** The usual spelling of a code, or now and then the other. */
export function spelled(stream: Stream, usual: string, other: string): string {
  return stream.chance(DIRT.other_spelling) ? other : usual
}

/** Spellings of marital_status, as code and in words. */
export const MARITAL_WORDS = { S: 'single', M: 'Married', W: 'Widow', D: 'Divorced' } as const

/** The person's relation to the head of the household, a code of the relationship_type list. */
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

/** employment_status as beneficiary and social records write it: the code, or now and then the word. */
export function employment(stream: Stream, person: Person): string {
  return person.is_employed ? spelled(stream, '1', 'employed') : spelled(stream, '2', 'unemployed')
}

/** True from 15 to 64 completed years. */
export function ofWorkingAge(person: Person): boolean {
  return person.age >= 15 && person.age < 65
}
