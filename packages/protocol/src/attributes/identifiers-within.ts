/**
 * Which identifiers a part of a record bears, in every spelling of a member: also where the record's own identifiers are not
 * read from. Whoever hides a person looks at more places than whoever finds one.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { isContact } from '../kinds/contact.ts'
import { UNLISTED } from '../kinds/identifier-types.ts'
import { resolveIdentifierType } from '../kinds/index.ts'
import type { IdentifierSource, IdentifierType, Kind, RecordType } from '../kinds/kind.ts'
import { identifierTypeOf, identifierValue, type RecordIdentifier } from './read-identifiers.ts'
import { searchKey } from './record-keys.ts'

type Named = Pick<RecordIdentifier, 'type' | 'value'>

export interface BorneIdentifier extends Named {
  /** It does not say its type: it may be of any. */
  readonly untyped?: true
}

/** Where the record type says that identifiers stand, by the search keys of their paths, and what leads there. */
interface Sources {
  readonly at: ReadonlyMap<string, readonly IdentifierSource[]>
  readonly parents: ReadonlySet<string>
}

const NO_SOURCES: Sources = { at: new Map(), parents: new Set() }
const known = new WeakMap<Pick<RecordType, 'identifiers'>, Sources>()

function sourcesOf(recordType: Pick<RecordType, 'identifiers'>): Sources {
  const found = known.get(recordType) ?? readSources(recordType)
  known.set(recordType, found)
  return found
}

function readSources({ identifiers }: Pick<RecordType, 'identifiers'>): Sources {
  const own = identifiers.filter(({ names }) => names === 'record')
  return {
    at: Map.groupBy(own, ({ path }) => searchKey(path)),
    parents: new Set(own.flatMap(({ path }) => withParents(searchKey(path)))),
  }
}

/** A path, and those of what stands around it. */
export const withParents = (path: string): readonly string[] =>
  path.split('.').map((_, at, segments) => segments.slice(0, at + 1).join('.'))

/**
 * Of an object that is an identifier itself, or bears some.
 * @param recordType of which it is a record: its own identifiers, and nobody else's, are read as the type says; null: unknown
 */
export function identifiersWithin(
  kind: Kind,
  object: JsonObject,
  recordType: Pick<RecordType, 'identifiers'> | null = null,
): readonly BorneIdentifier[] {
  return within(kind, recordType === null ? NO_SOURCES : sourcesOf(recordType), '', object)
}

function within(kind: Kind, sources: Sources, path: string, value: JsonValue): readonly BorneIdentifier[] {
  if (Array.isArray(value)) return value.flatMap((element) => within(kind, sources, path, element))
  const read = sources.at.get(path)?.flatMap((source) => identifierAt(kind, source, value)) ?? []
  const here = read.length > 0 ? read : anyIdentifier(kind, path, value)
  if (!isJsonObject(value)) return here
  const deeper = Object.entries(value).flatMap(([name, below]) => {
    const place = path === '' ? searchKey(name) : `${path}.${searchKey(name)}`
    return sources.parents.has(place) || isPerson(place) || isList(place) ? within(kind, sources, place, below) : []
  })
  return [...here, ...deeper]
}

/** Members in which the person stands whose the object is, in records of any kind. */
const isPerson = (path: string): boolean => /^(|((demographic_info|person)(\.|$))+)$/.test(path)
/** Members in which identifiers of that person stand. */
const isList = (path: string): boolean => /^((demographic_info|person)\.)*(member_)?identifier$/.test(path)

/** Where a source leads: of the type that it names, unless another one stands beside the value. */
function identifierAt(kind: Kind, source: IdentifierSource, leaf: JsonValue): readonly Named[] {
  const type = identifierTypeOf(kind, source, leaf)
  if (type === undefined) return []
  const raws = isJsonObject(leaf) ? valuesOf(leaf) : [leaf]
  return raws.flatMap((raw) => identifierOf(type, raw))
}

function identifierOf(type: IdentifierType, raw: JsonValue): readonly Named[] {
  const value = identifierValue(type, raw)
  return value === null ? [] : [{ type: type.name, value }]
}

/** Of any place: a type is read only where the object names one. */
const ANYWHERE: IdentifierSource = { path: '', names: 'part' }

/** Where no source leads: one that names no type may be of any. */
function anyIdentifier(kind: Kind, path: string, value: JsonValue): readonly BorneIdentifier[] {
  if (!isJsonObject(value)) return isList(path) ? bareIdentifiers(kind, value, 1) : []
  if (!isList(path) && !isPerson(path)) return []
  const type = identifierTypeOf(kind, ANYWHERE, value)
  const itself = valuesOf(value).flatMap((raw) =>
    type === undefined ? bareIdentifiers(kind, raw, 1) : identifierOf(type, raw),
  )
  return [...itself, ...typedMembers(kind, value)]
}

/** Members that are called as a type of identifiers is, such as `uin`. */
function typedMembers(kind: Kind, object: JsonObject): readonly Named[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const type = resolveIdentifierType(kind, searchKey(name))
    if (type === undefined || isContact(type)) return []
    return [value].flat().flatMap((raw) => identifierOf(type, raw))
  })
}

/** What an identifier object has as its value. */
const valuesOf = (object: JsonObject): readonly JsonValue[] =>
  Object.entries(object).flatMap(([name, value]) => (searchKey(name) === 'identifier_value' ? value : []))

/**
 * As an identifier of each type that is no means of contact: several people share a telephone.
 * @param length characters from which on a value may be one
 */
export function bareIdentifiers(kind: Kind, raw: JsonValue, length: number): readonly BorneIdentifier[] {
  if ((typeof raw !== 'string' && typeof raw !== 'number') || String(raw).length < length) return []
  return [...kind.identifier_types, UNLISTED].flatMap((type) =>
    isContact(type) ? [] : identifierOf(type, raw).map((one) => ({ ...one, untyped: true as const })),
  )
}

/** Whether identifiers of the type name records of another type than this one: a person's household, not the person. */
export const isOfAnother = ({ record_types }: Kind, { primary_identifier }: RecordType, type: string): boolean =>
  type !== primary_identifier && record_types.some((one) => one.primary_identifier === type)

/**
 * The identifiers that tell a person from the others in the same record: never a means of contact, nor what names a record of
 * another type; those of types that the kind does not list only where there are no others.
 */
export function tellingIdentifiers(
  kind: Kind,
  recordType: RecordType | null,
  identifiers: readonly Named[],
): readonly Named[] {
  const contacts = kind.identifier_types.filter(isContact).map(({ name }) => name)
  const telling = identifiers.filter(
    ({ type }) => !contacts.includes(type) && (recordType === null || !isOfAnother(kind, recordType, type)),
  )
  const listed = telling.filter(({ type }) => type !== UNLISTED.name)
  return listed.length > 0 ? listed : telling
}
