/** Finds what a name in a query means: an attribute, an attribute of a list's elements, a list, or an identifier. */
import { namesOf, searchKey } from '../attributes/record-keys.ts'
import { oncePerObject } from '../once-per.ts'
import { UNLISTED } from './identifier-types.ts'
import { resolveIdentifierType } from './index.ts'
import type { Attribute, Compound, CompoundMember, IdentifierType, Kind, RecordType } from './kind.ts'
import { findMeaningOfQueryName } from './query-keys.ts'

/** The target of a name in a query. `member`: an attribute of the elements of a compound. `compound`: the whole list. */
export type Searchable =
  | { readonly is: 'attribute'; readonly attribute: Attribute }
  | { readonly is: 'member'; readonly compound: Compound; readonly attribute: CompoundMember }
  | { readonly is: 'compound'; readonly compound: Compound }
  /** An identifier of one of these types, of the record or of a part of it. */
  | { readonly is: 'identifier'; readonly types: readonly IdentifierType[] }
  | { readonly is: 'identifier_type' }

/** Names that mean identifiers in every kind (public-standard.md 2.4). */
const IDENTIFIER_QUERY_NAMES = ['identifier', 'person_identifier', 'member_identifier']
const IDENTIFIER_VALUE_QUERY_NAMES = ['identifier_value', 'id_value']
const IDENTIFIER_TYPE_QUERY_NAMES = ['identifier_type', 'id_type']

/**
 * Finds the target of `spelling`, which is a name, an alias, or a dotted path, in a record type. Names of attributes and
 * lists are preferred to paths, attributes to lists, and both to identifiers.
 */
export function resolveSearchable(kind: Kind, recordType: RecordType, spelling: string): Searchable | undefined {
  const searchables = searchablesOfKind(kind)(recordType)
  return findMeaningOfQueryName(recordType, spelling, (key) => searchables.get(key))
}

const searchablesOfKind = oncePerObject((kind: Kind) =>
  oncePerObject((recordType: RecordType) => makeSearchablesByName(kind, recordType)),
)

/** The canonical names that a query may use (attributes, lists, identifier types), for messages. */
export function searchableNames(kind: Kind, recordType: RecordType): string[] {
  const compounds = recordType.compounds ?? []
  return [
    ...recordType.attributes.map(({ name }) => name),
    ...compounds.flatMap(({ name, members }) => [...members.map((member) => member.name), name]),
    ...kind.identifier_types.map(({ name }) => name),
  ]
}

/** True when a query may use this path as a name. */
export function isQueryablePath({ unnamed_paths = [] }: RecordType, path: string): boolean {
  return path !== '' && !unnamed_paths.some((unnamed) => `${path}.`.startsWith(`${unnamed}.`))
}

function makeSearchablesByName(kind: Kind, recordType: RecordType): ReadonlyMap<string, Searchable> {
  const table = new Map<string, Searchable>()
  const add = (spellings: readonly string[], meaning: Searchable) => {
    const named = spellings.filter((path) => meaning.is === 'attribute' || isQueryablePath(recordType, path))
    for (const key of named.map(searchKey)) if (!table.has(key)) table.set(key, meaning)
  }
  const attributes = recordType.attributes.map((attribute) => ({ is: 'attribute' as const, attribute }))
  const compounds = (recordType.compounds ?? []).map((compound) => ({ is: 'compound' as const, compound }))
  const members = compounds.flatMap(({ compound }) =>
    compound.members.map((attribute) => ({ is: 'member' as const, compound, attribute })),
  )
  // The first entry for a key stays, so names are added before paths.
  for (const row of [...attributes, ...members]) add(namesOf(row.attribute), row)
  for (const row of compounds) add(namesOf(row.compound), row)
  for (const row of attributes) add(row.attribute.paths, row)
  for (const row of members) add(compoundMemberSpellings(row.compound, row.attribute), row)
  for (const row of compounds) add(row.compound.paths, row)
  addIdentifierSearchables(kind, recordType, add)
  return table
}

/**
 * The identifier types that a query about any identifier compares: those of the kind, and `UNLISTED` unless the kind excludes it.
 */
export function anyIdentifierType({ identifier_types, unlisted_identifiers }: Kind): readonly IdentifierType[] {
  return unlisted_identifiers === false ? identifier_types : [...identifier_types, UNLISTED]
}

function addIdentifierSearchables(
  kind: Kind,
  recordType: RecordType,
  add: (spellings: readonly string[], meaning: Searchable) => void,
): void {
  const anyType = anyIdentifierType(kind)
  const any: Searchable = { is: 'identifier', types: anyType }
  for (const type of kind.identifier_types) add(namesOf(type), { is: 'identifier', types: [type] })
  const own = ownIdentifierPlaces(kind, recordType)
  for (const { path, types } of own) {
    add([path, ...joinPaths([path], IDENTIFIER_VALUE_QUERY_NAMES)], { is: 'identifier', types })
  }
  const isOwn = (type: IdentifierType): boolean => own.some(({ types }) => types.includes(type))
  const ofPart: Searchable = { is: 'identifier', types: anyType.filter((type) => !isOwn(type)) }
  const paths = recordType.identifiers.map(({ path }) => path)
  for (const { path, names } of recordType.identifiers) {
    const meant = names === 'part' ? ofPart : any
    add(joinPaths([path], IDENTIFIER_VALUE_QUERY_NAMES), meant)
    const last = path.slice(path.lastIndexOf('.') + 1)
    const type = resolveIdentifierType(kind, last)
    // A path is a name only if its last part names an identifier: `demographic_info` is an object with other members too.
    if (type !== undefined) add([path], { is: 'identifier', types: [type] })
    else if (last.endsWith('identifier')) add([path], meant)
  }
  const places = [...paths, ...IDENTIFIER_QUERY_NAMES]
  add(
    [
      ...IDENTIFIER_QUERY_NAMES,
      ...IDENTIFIER_VALUE_QUERY_NAMES,
      ...joinPaths(IDENTIFIER_QUERY_NAMES, IDENTIFIER_VALUE_QUERY_NAMES),
    ],
    any,
  )
  add(joinPaths(IDENTIFIER_QUERY_NAMES, ['value']), any)
  add(
    [
      ...IDENTIFIER_TYPE_QUERY_NAMES,
      ...joinPaths(places, IDENTIFIER_TYPE_QUERY_NAMES),
      ...joinPaths(IDENTIFIER_QUERY_NAMES, ['type']),
    ],
    { is: 'identifier_type' },
  )
}

/**
 * The places of the record's own identifiers, with the type of each. In a query, such a path means only identifiers of its type,
 * and the path of another person's identifier means only the other types. Empty when the record has identifiers of no other
 * person, such as a member of a household: then no types need to be told apart.
 */
function ownIdentifierPlaces(kind: Kind, { identifiers }: RecordType) {
  if (identifiers.every(({ names }) => names === 'record')) return []
  return identifiers.flatMap(({ path, type, names }) => {
    const own = names === 'record' && type !== undefined ? resolveIdentifierType(kind, type) : undefined
    return own === undefined ? [] : [{ path, types: [own] }]
  })
}

/**
 * The names of a compound's member in a query: each name or path of the compound, joined with each name or path of the member;
 * and the paths of the member in the record.
 */
function compoundMemberSpellings(compound: Compound, member: CompoundMember): string[] {
  const places = [...namesOf(compound), ...compound.paths]
  const ends = [...namesOf(member), ...member.paths]
  return [...joinPaths(places, ends), ...(member.record_paths ?? [])].filter(isNotEmpty)
}

function joinPaths(places: readonly string[], ends: readonly string[]): string[] {
  return places.flatMap((place) => ends.map((end) => [place, end].filter(isNotEmpty).join('.')))
}

const isNotEmpty = (path: string): boolean => path !== ''
