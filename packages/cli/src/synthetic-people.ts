/** The synthetic people with whom the demo and sandbox registries are filled: the same people in every registry. */
import { Readable } from 'node:stream'
import { kindNamed } from '@rollcall/protocol'
import { generate, generateLines } from '@rollcall/synthetic'

/** The seed of the one population: people of one registry are found in another one by their identifiers. */
export const PEOPLE_SEED = 'demo'

/** Documents in each registry of the demo. */
export const DEMO_RECORDS = 2_000

/** Lines that are handed over at once. */
const PIECE = 200

type Types = Readonly<Record<string, string>>

/**
 * So many records of a kind, as NDJSON.
 * @param identifier_types the new name of each identifier type that a registry calls otherwise
 */
export const syntheticRecords = (kind: string, count: number, identifier_types: Types = {}): Readable =>
  Readable.from(pieces(generateLines(kind, { seed: PEOPLE_SEED, count, identifier_types })))

/** By the primary identifier of each record type of the kind, the one that the registry has instead. */
export function renamedPrimaries(kind: string, primaries: Types): Types {
  const types = kindNamed(kind)?.record_types ?? []
  return Object.fromEntries(
    types.map(({ name, primary_identifier }) => [primary_identifier, primaries[name] ?? primary_identifier]),
  )
}

function* pieces(lines: Iterable<string>): Generator<string> {
  let piece: string[] = []
  for (const line of lines) {
    piece.push(line)
    if (piece.length < PIECE) continue
    yield `${piece.join('\n')}\n`
    piece = []
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`
}

/** Records of a kind among which one of the right type is looked for, for what is tried out. */
export const trialRecords = (kind: string, identifier_types: Types = {}): Iterable<object> =>
  generate(kind, { count: 100, seed: 'test', identifier_types })
