/** Documents of the population, kind by kind. */
import { civil } from './kinds/civil.ts'
import { disability } from './kinds/disability.ts'
import { ess } from './kinds/ess.ts'
import { farmer } from './kinds/farmer.ts'
import { ibr } from './kinds/ibr.ts'
import type { KindGenerator } from './kinds/parts.ts'
import { social } from './kinds/social.ts'
import { populationOf } from './stream.ts'

/** A row for each kind that has synthetic documents. */
export const KIND_GENERATORS: readonly KindGenerator[] = [civil, ibr, ess, social, disability, farmer]

/** Limit of documents of one kind: every person in them has an index below PERSON_LIMIT (numbers.ts). */
export const COUNT_LIMIT = 100_000_000

export interface GenerateOptions {
  /** How many documents, 0 to COUNT_LIMIT. */
  readonly count: number
  /** Which population: the same seed gives the same people in every kind. */
  readonly seed: number | string
  /** Identifier types by other names, such as `{ UIN: 'NID' }`; the values stay the same. */
  readonly identifier_types?: Readonly<Record<string, string>>
}

/**
 * The first `count` documents of a kind. Document i depends only on the kind, the seed and i, so a longer run begins
 * with a shorter one. Documents are made on demand, and none is stored.
 * @throws RangeError at the call, for a kind without generator or a count out of range
 */
export function generate(kindName: string, options: GenerateOptions): Iterable<object> {
  const { seed, identifier_types = {} } = options
  return documents(generatorOf(kindName), checkedCount(options.count), seed, identifier_types)
}

/** A document whose identifiers have other types: `names` has the new name of each type that is renamed. */
export function withIdentifierTypes(document: object, names: Readonly<Record<string, string>>): object {
  if (Object.keys(names).length === 0) return document
  const renamed = (key: string, value: unknown): unknown =>
    key === 'identifier_type' && typeof value === 'string' ? (names[value] ?? value) : value
  return JSON.parse(JSON.stringify(document, renamed))
}

/** The same documents as lines of NDJSON, without the line ends. @throws RangeError as `generate` does */
export function generateLines(kindName: string, options: GenerateOptions): Iterable<string> {
  return lines(generate(kindName, options))
}

function* documents(
  { document }: KindGenerator,
  count: number,
  seed: number | string,
  names: Readonly<Record<string, string>>,
): Generator<object> {
  const population = populationOf(seed)
  for (let ordinal = 0; ordinal < count; ordinal++) {
    yield withIdentifierTypes(document(population, ordinal), names)
  }
}

function* lines(all: Iterable<object>): Generator<string> {
  for (const document of all) yield JSON.stringify(document)
}

function generatorOf(kindName: string): KindGenerator {
  const found = KIND_GENERATORS.find((generator) => generator.kind === kindName)
  if (found) return found
  const known = KIND_GENERATORS.map((generator) => generator.kind).join(', ')
  throw new RangeError(`no synthetic documents for kind "${kindName}"; there are some for ${known}`)
}

function checkedCount(count: number): number {
  if (Number.isInteger(count) && count >= 0 && count <= COUNT_LIMIT) return count
  throw new RangeError(`count must be a whole number from 0 to ${COUNT_LIMIT}, not ${count}`)
}
