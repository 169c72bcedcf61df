/**
 * Finds identifiers in a part of a record, in any spelling of the names of members, also at places where
 * `read-identifiers.ts` reads none: hiding a person needs more places than finding one.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { isContact } from '../kinds/contact.ts'
import { UNLISTED } from '../kinds/identifier-types.ts'
import { resolveIdentifierType } from '../kinds/index.ts'
import type { IdentifierSource, IdentifierType, Kind, RecordType } from '../kinds/kind.ts'
import { oncePerObject } from '../once-per.ts'
import { identifierTypeOf, identifierValue, type RecordIdentifier } from './read-identifiers.ts'
import { searchKey } from './record-keys.ts'

type Named = Pick<RecordIdentifier, 'type' | 'value'>

/** An identifier that was found in a part of a record. */
export interface BorneIdentifier extends Named {
  /** True when the document gives the identifier no type: `type` is then one of those that it may have. */
  readonly untyped?: true
}

/** The paths of the own identifiers in records of a type, as `searchKey` writes them. `parents` also has the paths above them. */
interface OwnIdentifierPlaces {
  readonly at: ReadonlyMap<string, readonly IdentifierSource[]>
  readonly parents: ReadonlySet<string>
}

const NO_OWN_IDENTIFIER_PLACES: OwnIdentifierPlaces = { at: new Map(), parents: new Set() }

const ownIdentifierPlacesOf = oncePerObject(({ identifiers }: Pick<RecordType, 'identifiers'>): OwnIdentifierPlaces => {
  const own = identifiers.filter(({ names }) => names === 'record')
  return {
    at: Map.groupBy(own, ({ path }) => searchKey(path)),
    parents: new Set(own.flatMap(({ path }) => withPathsAbove(searchKey(path)))),
  }
})

/** The path and all paths above it: `a.b` gives `a` and `a.b`. */
export const withPathsAbove = (path: string): readonly string[] =>
  path.split('.').map((_, at, segments) => segments.slice(0, at + 1).join('.'))

/**
 * The identifiers of an object that is an identifier or has some. Those of other persons inside are not read.
 * @param recordType given when the object is a record: the places of its own identifiers are then read too
 */
export function identifiersWithin(
  kind: Kind,
  object: JsonObject,
  recordType: Pick<RecordType, 'identifiers'> | null = null,
): readonly BorneIdentifier[] {
  return collectIdentifiers(kind, recordType === null ? NO_OWN_IDENTIFIER_PLACES : ownIdentifierPlacesOf(recordType), '', object)
}

/** The identifiers in `value`, and in its parts about the same person. `path` is the place of `value` in the object. */
function collectIdentifiers(
  kind: Kind,
  sources: OwnIdentifierPlaces,
  path: string,
  value: JsonValue,
): readonly BorneIdentifier[] {
  if (Array.isArray(value)) return value.flatMap((element) => collectIdentifiers(kind, sources, path, element))
  const read = sources.at.get(path)?.flatMap((source) => identifiersAtPlace(kind, source, value)) ?? []
  const here = read.length > 0 ? read : identifiersAtUnlistedPlace(kind, path, value)
  if (!isJsonObject(value)) return here
  const deeper = Object.entries(value).flatMap(([name, below]) => {
    const place = path === '' ? searchKey(name) : `${path}.${searchKey(name)}`
    return sources.parents.has(place) || isSamePersonPath(place) || isOwnIdentifierPath(place)
      ? collectIdentifiers(kind, sources, place, below)
      : []
  })
  return [...here, ...deeper]
}

/** True when this path in an object is the object itself (""), or a part about the same person, in records of any kind. */
const isSamePersonPath = (path: string): boolean => /^(|((demographic_info|person)(\.|$))+)$/.test(path)
/** True when this path in an object has identifiers of the person whom the object describes, in records of any kind. */
const isOwnIdentifierPath = (path: string): boolean => /^((demographic_info|person)\.)*(member_)?identifier$/.test(path)

/** The identifiers in a value at the place `source`. A value without a type has the type of the place. */
function identifiersAtPlace(kind: Kind, source: IdentifierSource, leaf: JsonValue): readonly Named[] {
  const type = identifierTypeOf(kind, source, leaf)
  if (type === undefined) return []
  const raws = isJsonObject(leaf) ? identifierValuesOf(leaf) : [leaf]
  return raws.flatMap((raw) => identifiersOfTypedValue(type, raw))
}

function identifiersOfTypedValue(type: IdentifierType, raw: JsonValue): readonly Named[] {
  const value = identifierValue(type, raw)
  return value === null ? [] : [{ type: type.name, value }]
}

/** For places that the record type does not list: `identifierTypeOf` then finds only the type that the object itself names. */
const UNTYPED_IDENTIFIER_SOURCE: IdentifierSource = { path: '', names: 'part' }

/** The identifiers at a place where the record type finds none. One without a type is returned for each type it may have. */
function identifiersAtUnlistedPlace(kind: Kind, path: string, value: JsonValue): readonly BorneIdentifier[] {
  if (!isJsonObject(value)) return isOwnIdentifierPath(path) ? identifiersOfUntypedValue(kind, value, 1) : []
  if (!isOwnIdentifierPath(path) && !isSamePersonPath(path)) return []
  const type = identifierTypeOf(kind, UNTYPED_IDENTIFIER_SOURCE, value)
  const itself = identifierValuesOf(value).flatMap((raw) =>
    type === undefined ? identifiersOfUntypedValue(kind, raw, 1) : identifiersOfTypedValue(type, raw),
  )
  return [...itself, ...identifiersInMembers(kind, value)]
}

/** The identifiers in members that have the name of a type, such as `uin`; telephones and e-mail addresses left out. */
function identifiersInMembers(kind: Kind, object: JsonObject): readonly Named[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const type = resolveIdentifierType(kind, searchKey(name))
    if (type === undefined || isContact(type)) return []
    return [value].flat().flatMap((raw) => identifiersOfTypedValue(type, raw))
  })
}

/** The values of the member `identifier_value` of an object, in any spelling of that name. */
const identifierValuesOf = (object: JsonObject): readonly JsonValue[] =>
  Object.entries(object).flatMap(([name, value]) => (searchKey(name) === 'identifier_value' ? value : []))

/**
 * The value as an identifier of every type that it may have, but not as a telephone or e-mail address: people share these.
 * @param length the smallest number of characters that an identifier may have
 */
export function identifiersOfUntypedValue(kind: Kind, raw: JsonValue, length: number): readonly BorneIdentifier[] {
  if ((typeof raw !== 'string' && typeof raw !== 'number') || String(raw).length < length) return []
  return [...kind.identifier_types, UNLISTED].flatMap((type) =>
    isContact(type) ? [] : identifiersOfTypedValue(type, raw).map((one) => ({ ...one, untyped: true as const })),
  )
}

/** True when identifiers of this type name records of another type, such as a person's household. */
export const isOfAnother = ({ record_types }: Kind, { primary_identifier }: RecordType, type: string): boolean =>
  type !== primary_identifier && record_types.some((one) => one.primary_identifier === type)

/**
 * Returns the identifiers of one person that distinguish this person from others in a record. Telephones, e-mail addresses and
 * identifiers of other records do not distinguish a person. Identifiers of types that the kind does not list are returned only
 * when there are no others.
 */
export function distinguishingIdentifiers(
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
