/** The names by which a query asks: of a record's attributes and identifiers, or of an element's alone. */
import { type Compound, resolveSearchable, type Searchable, searchableNames } from '@rollcall/protocol'
import { QueryProblem } from '../problem.ts'
import type { Reader } from './reader.ts'

export interface Names {
  /** What was said of the path by the objects around, such as `name.`. */
  readonly prefix: string
  /** Only members of this compound are meant. */
  readonly compound: Compound | undefined
}

export const RECORD_NAMES: Names = { prefix: '', compound: undefined }

/** Longer than every name and path of a record; nothing is looked up by more. */
const LONGEST = 256

export function resolveName(
  reader: Reader,
  { prefix, compound }: Names,
  name: string,
): Searchable | undefined {
  if (prefix.length + name.length > LONGEST) return undefined
  const found = resolveSearchable(reader.kind, reader.recordType, `${prefix}${name}`)
  if (compound === undefined || isMemberOf(compound, found)) return found
  // Right in the element a member may be named as the record's; below something else it would be another's.
  const place = resolveSearchable(reader.kind, reader.recordType, prefix.slice(0, -1))
  if (place?.is !== 'compound' || place.compound !== compound) return undefined
  const bare = resolveSearchable(reader.kind, reader.recordType, name)
  return isMemberOf(compound, bare) ? bare : undefined
}

function isMemberOf(compound: Compound, found: Searchable | undefined): boolean {
  return found?.is === 'member' && found.compound === compound
}

/**
 * What would be accepted instead.
 * @param name as it was written
 */
export function unknownName(
  { kind, recordType }: Reader,
  { prefix, compound }: Names,
  path: string,
  name: unknown,
): QueryProblem {
  const names = compound?.members.map(({ name }) => name) ?? searchableNames(kind, recordType)
  const what =
    compound === undefined ? `an attribute of ${recordType.emitted}` : `a member of ${compound.name}`
  const whole = typeof name === 'string' && name.length <= LONGEST ? `${prefix}${name}` : undefined
  const other = kind.record_types.find(
    (type) =>
      type !== recordType && whole !== undefined && resolveSearchable(kind, type, whole) !== undefined,
  )
  const hint =
    other === undefined ? '' : `; it is one of ${other.emitted}: ask with response_entity: ${other.emitted}`
  return new QueryProblem(path, `must be ${what}: ${names.join(', ')}${hint}`)
}
