/** Makes names of persons, and writes them as objects with the members that each kind of registry has for names. */
import type { Culture } from './cultures.ts'
import { ERROR_RATES } from './dirt.ts'
import type { RandomStream } from './stream.ts'

/** The parts of a name (public-standard 2.1 Name). surname, given_name or both are present. */
export interface PersonName {
  readonly surname?: string
  readonly given_name?: string
  readonly second_name?: string
  readonly maiden_name?: string
  readonly prefix?: string
  readonly suffix?: string
}

export type Sex = 'female' | 'male'

const PREFIXES = { female: ['Ms', 'Mrs', 'Dr'], male: ['Mr', 'Dr', 'Hon.'] } as const
const SUFFIXES = ['Jr', 'III', 'PhD'] as const

export function givenName(stream: RandomStream, culture: Culture, sex: Sex): string {
  return stream.pick(culture.openings) + stream.pick(culture[sex])
}

export function familyName(stream: RandomStream, culture: Culture): string {
  return stream.pick(culture.surnames.openings) + stream.pick(culture.surnames.endings)
}

/** Makes a whole name. @param birth_surname the surname before marriage; null when it is the same */
export function personName(
  stream: RandomStream,
  culture: Culture,
  sex: Sex,
  surname: string,
  birth_surname: string | null,
): PersonName {
  const given_name = givenName(stream, culture, sex)
  if (stream.chance(ERROR_RATES.single_name)) return stream.chance(0.5) ? { given_name } : { surname }
  return {
    surname,
    given_name,
    ...(stream.chance(0.25) && { second_name: givenName(stream, culture, sex) }),
    ...(birth_surname !== null && { maiden_name: birth_surname }),
    ...(stream.chance(0.05) && { prefix: stream.pick(PREFIXES[sex]) }),
    ...(stream.chance(0.02) && { suffix: stream.pick(SUFFIXES) }),
  }
}

/** The name with accents as combining characters (NFD), as some keyboards write them. */
export function decomposeAccents(name: PersonName): PersonName {
  return Object.fromEntries(Object.entries(name).map(([part, text]) => [part, text.normalize('NFD')]))
}

/** The name in the members that benefit programmes use: first_name, second_name and surname. */
export function makeProgrammePersonName(name: PersonName): object {
  const { given_name, second_name, surname } = name
  return {
    ...(given_name !== undefined && { first_name: given_name }),
    ...(second_name !== undefined && { second_name }),
    ...(surname !== undefined && { surname }),
  }
}

/** The name in the members that the disability and farmer registries use: first_name and last_name. */
export function firstAndLastName(name: PersonName): object {
  const { given_name, surname } = name
  return { ...(given_name !== undefined && { first_name: given_name }), ...(surname !== undefined && { last_name: surname }) }
}
