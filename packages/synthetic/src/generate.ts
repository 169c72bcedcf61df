/** Generates the documents of the population for each kind. */
import { civil } from './kinds/civil.ts'
import { disability } from './kinds/disability.ts'
import { ess } from './kinds/ess.ts'
import { farmer } from './kinds/farmer.ts'
import { ibr } from './kinds/ibr.ts'
import type { KindGenerator } from './kinds/parts.ts'
import { social } from './kinds/social.ts'
import { populationOf } from './stream.ts'

/** The generator of each kind that has synthetic documents. */
export const KIND_GENERATORS: readonly KindGenerator[] = [civil, ibr, ess, social, disability, farmer]

/** The largest number of documents of one kind. It keeps the indices of all persons below PERSON_INDEX_LIMIT (numbers.ts). */
export const COUNT_LIMIT = 100_000_000

export interface GenerateOptions {
  /** The number of documents, 0 to COUNT_LIMIT. */
  readonly count: number
  /** The name of the population: the same seed gives the same people in every kind. */
  readonly seed: number | string
  /** Other names for identifier types, such as `{ UIN: 'NID' }`. The values stay the same. */
  readonly identifier_types?: Readonly<Record<string, string>>
}

/**
 * The first `count` documents of a kind. They are the same for every `count`: a larger one only adds documents at the end.
 * Documents are made when they are read.
 * @throws RangeError at once, for a kind without a generator or a wrong count
 */
export function generate(kindName: string, options: GenerateOptions): Iterable<object> {
  const { seed, identifier_types = {} } = options
  return generateDocuments(requireGenerator(kindName), requireCount(options.count), seed, identifier_types)
}

/** The document with other names of identifier types. @param names the new name for each old one */
export function withIdentifierTypes(document: object, names: Readonly<Record<string, string>>): object {
  if (Object.keys(names).length === 0) return document
  const renamed = (key: string, value: unknown): unknown =>
    key === 'identifier_type' && typeof value === 'string' ? (names[value] ?? value) : value
  return JSON.parse(JSON.stringify(document, renamed))
}

/** The documents of `generate` as lines of NDJSON, without line ends. @throws RangeError as `generate` */
export function generateLines(kindName: string, options: GenerateOptions): Iterable<string> {
  return toJsonLines(generate(kindName, options))
}

function* generateDocuments(
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

function* toJsonLines(all: Iterable<object>): Generator<string> {
  for (const document of all) yield JSON.stringify(document)
}

function requireGenerator(kindName: string): KindGenerator {
  const found = KIND_GENERATORS.find((generator) => generator.kind === kindName)
  if (found) return found
  const known = KIND_GENERATORS.map((generator) => generator.kind).join(', ')
  throw new RangeError(`no synthetic documents for kind "${kindName}"; there are some for ${known}`)
}

function requireCount(count: number): number {
  if (Number.isInteger(count) && count >= 0 && count <= COUNT_LIMIT) return count
  throw new RangeError(`count must be a whole number from 0 to ${COUNT_LIMIT}, not ${count}`)
}
