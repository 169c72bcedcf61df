/** Makes synthetic people: all registries of the demo and the sandbox have the same people. `makeSampleRecords` makes others. */
import { Readable } from 'node:stream'
import { kindNamed } from '@rollcall/protocol'
import { generate, generateLines } from '@rollcall/synthetic'

/** The seed of the population. With the same seed, people of one registry are found in another by their identifiers. */
export const PEOPLE_SEED = 'demo'

/** The number of records in each registry of the demo. */
export const DEMO_RECORD_COUNT = 2_000

/** The number of lines that the stream passes on at once. */
const PIECE_LINES = 200

type RenamedIdentifierTypes = Readonly<Record<string, string>>

/** Makes records of a kind, as NDJSON. @param identifier_types new names of identifier types that a registry renamed */
export const syntheticRecords = (kind: string, count: number, identifier_types: RenamedIdentifierTypes = {}): Readable =>
  Readable.from(joinLinesInPieces(generateLines(kind, { seed: PEOPLE_SEED, count, identifier_types })))

/**
 * Maps each primary identifier type of the kind to the registry's type in its place.
 * @param primaries the registry's primary identifier types, by record type
 */
export function renamedPrimaryIdentifiers(kind: string, primaries: RenamedIdentifierTypes): RenamedIdentifierTypes {
  const types = kindNamed(kind)?.record_types ?? []
  return Object.fromEntries(
    types.map(({ name, primary_identifier }) => [primary_identifier, primaries[name] ?? primary_identifier]),
  )
}

function* joinLinesInPieces(lines: Iterable<string>): Generator<string> {
  let piece: string[] = []
  for (const line of lines) {
    piece.push(line)
    if (piece.length < PIECE_LINES) continue
    yield `${piece.join('\n')}\n`
    piece = []
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`
}

/** Makes 100 records of a kind, for functions that need a synthetic record of a certain record type. */
export const makeSampleRecords = (kind: string, identifier_types: RenamedIdentifierTypes = {}): Iterable<object> =>
  generate(kind, { count: 100, seed: 'test', identifier_types })
