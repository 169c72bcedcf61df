/**
 * A record without some of the other persons that it holds or names: a household without a member, a member without a
 * related person. The record reads as if they had never been written into it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { UNLISTED } from '../kinds/identifier-types.ts'
import type { IdentifierSource, IdentifierType, Kind, RecordType, Relation } from '../kinds/kind.ts'
import {
  identifierTypeOf,
  identifierValue,
  type RecordIdentifier,
  readIdentifiers,
} from './read-identifiers.ts'
import { searchKey } from './record-keys.ts'
import { memberNamed } from './walk.ts'

/** Another person in a record. */
export interface OtherPerson {
  /** By which the person is named there. */
  readonly identifiers: readonly Pick<RecordIdentifier, 'type' | 'value'>[]
  /** Where it stands in a relation of the kind; null: elsewhere in the document. */
  readonly relation: Relation | null
  /** All that the record has of the person, as a record of its type; null: no more than identifiers. */
  readonly record: { readonly recordType: RecordType; readonly document: JsonObject } | null
}

/** Whether a person is taken out: null where not, else what tells this person from others, by which each counts once. */
export type TakesOut = (person: OtherPerson) => string | null

/**
 * The record without the persons that `takesOut` names, the same object where it has none of them. What is left empty is left
 * out, and attributes that count the persons are lessened.
 * @param document of a record of this type
 */
export function withoutPersons(
  kind: Kind,
  recordType: RecordType,
  document: JsonObject,
  takesOut: TakesOut,
): JsonObject {
  const scope: Scope = { kind, takesOut, taken: new Set(), recordType, places: placesOf(recordType) }
  const left = cutMembers(scope, '', document)
  return isJsonObject(left) ? left : {}
}

/** A record of which the document, or a part of it, is one. */
interface Scope {
  readonly kind: Kind
  readonly takesOut: TakesOut
  /** What tells the persons who were taken out of counted relations. */
  readonly taken: Set<string>
  readonly recordType: RecordType
  readonly places: Places
}

/** Where things stand in records of a type, by the search keys of their paths. */
interface Places {
  /** Where identifiers of the record itself stand, and what they stand in: nobody else's. */
  readonly own: ReadonlySet<string>
  readonly relations: ReadonlyMap<string, Relation>
  /** By the path of what goes with the person, the paths of the persons. */
  readonly entries: ReadonlyMap<string, readonly string[]>
  /** Attributes that count persons. */
  readonly counts: ReadonlySet<string>
}

const known = new WeakMap<RecordType, Places>()

function placesOf(recordType: RecordType): Places {
  const found = known.get(recordType) ?? readPlaces(recordType)
  known.set(recordType, found)
  return found
}

function readPlaces({ identifiers, attributes, relations = [] }: RecordType): Places {
  const entries = new Map<string, string[]>()
  for (const { paths, entries: around = [] } of relations) {
    for (const [at, path] of paths.entries()) {
      const entry = searchKey(around[at] ?? path)
      if (entry !== searchKey(path)) entries.set(entry, [...(entries.get(entry) ?? []), searchKey(path)])
    }
  }
  const counting = new Set(relations.flatMap(({ counted_by }) => counted_by ?? []))
  const counts = attributes.filter(({ name }) => counting.has(name)).flatMap(({ paths }) => paths)
  return {
    own: new Set(
      identifiers
        .filter(({ names }) => names === 'record')
        .flatMap(({ path }) => withParents(searchKey(path))),
    ),
    relations: new Map(relations.flatMap((row) => row.paths.map((path) => [searchKey(path), row] as const))),
    entries,
    counts: new Set(counts.map(searchKey)),
  }
}

/** A path, and those of what stands around it. */
const withParents = (path: string): readonly string[] =>
  path.split('.').map((_, at, segments) => segments.slice(0, at + 1).join('.'))

/** Undefined: nothing is left of it. */
function cutValue(scope: Scope, path: string, value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    const left = value.map((element) => cutValue(scope, path, element))
    if (left.every((element, at) => element === value[at])) return value
    const kept = left.filter((element) => element !== undefined)
    return kept.length === 0 ? undefined : kept
  }
  if (value === null || typeof value === 'boolean') return value
  const relation = scope.places.relations.get(path)
  if (relation !== undefined) return cutRelated(scope, path, relation, value)
  if (!scope.places.own.has(path) && names(scope, value)) return undefined
  return isJsonObject(value) ? cutMembers(scope, path, value) : value
}

/** @param value of another person, or around persons who stand deeper */
function cutRelated(
  scope: Scope,
  path: string,
  relation: Relation,
  value: JsonObject | string | number,
): JsonValue | undefined {
  const { kind, takesOut, taken } = scope
  const recordType = kind.record_types.find(({ name }) => name === relation.record_type)
  const takeOut = (person: Omit<OtherPerson, 'relation'>, within: Relation | null): boolean => {
    const key = takesOut({ ...person, relation: within })
    if (key !== null && relation.counted_by !== undefined) taken.add(key)
    return key !== null
  }
  if (recordType === undefined || !isJsonObject(value)) {
    const identifiers = isJsonObject(value) ? identifiersWithin(kind, value) : bareIdentifiers(kind, value, 1)
    if (takeOut({ identifiers, record: null }, relation)) return undefined
    return isJsonObject(value) ? cutMembers(scope, path, value) : value
  }
  const identifiers = readIdentifiers(kind, recordType, value).filter((one) => one.names === 'record')
  const isAround = isAroundPersons(scope.places, path, value)
  if (takeOut({ identifiers, record: { recordType, document: value } }, isAround ? null : relation)) {
    return undefined
  }
  if (isAround) return cutMembers(scope, path, value)
  return cutMembers({ ...scope, taken: new Set(), recordType, places: placesOf(recordType) }, '', value)
}

/** Whether further persons of the relations stand in it, such as `household_member` in an element of `member_list`. */
const isAroundPersons = ({ relations }: Places, path: string, value: JsonObject): boolean =>
  [...relations.keys()].some(
    (one) => one.startsWith(`${path}.`) && memberNamed(value, one.slice(path.length + 1)) !== undefined,
  )

/** Members that say what an object is: where nothing else is left of it, it is left out. */
const STRUCTURE = ['@type', '@context', '@id']

function cutMembers(scope: Scope, path: string, object: JsonObject): JsonValue | undefined {
  const entered = scope.places.entries.get(path)
  const gone: string[] = []
  let changed = false
  const members = Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
    const key = searchKey(name)
    // It was judged with the object, by the type that stands beside it.
    if (key === 'identifier_value') return [[name, value]]
    const place = path === '' ? key : `${path}.${key}`
    const left = cutValue(scope, place, value)
    changed ||= left !== value
    if (left !== undefined) return [[name, left]]
    gone.push(place)
    return []
  })
  if (!changed) return object
  if (entered?.some((place) => gone.includes(place))) return undefined
  const isEmpty = members.every(([name]) => STRUCTURE.includes(name))
  if (path !== '' && isEmpty) return undefined
  return Object.fromEntries(members.map(([name, value]) => [name, counted(scope, path, name, value)]))
}

const UNKNOWN = { relation: null, record: null } as const

/** A number of persons, without those who were taken out. */
function counted({ places, taken }: Scope, path: string, name: string, value: JsonValue): JsonValue {
  const key = searchKey(name)
  if (taken.size === 0 || !places.counts.has(path === '' ? key : `${path}.${key}`)) return value
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number') return value
  const left = Math.max(0, number - taken.size)
  return typeof value === 'string' ? String(left) : left
}

/** Whether it is somebody who is taken out, or an identifier of such a person: what an object has beside it is theirs too. */
function names({ kind, takesOut }: Scope, value: JsonObject | string | number): boolean {
  const identifiers = isJsonObject(value)
    ? identifiersWithin(kind, value)
    : bareIdentifiers(kind, value, BARE_LENGTH)
  return identifiers.length > 0 && takesOut({ ...UNKNOWN, identifiers }) !== null
}

/** Characters of a bare value outside of the relations from which on it is looked at as an identifier. */
const BARE_LENGTH = 4

type Named = OtherPerson['identifiers'][number]

/** Of any place: a type is read only where the object names one. */
const ANYWHERE: IdentifierSource = { path: '', names: 'part' }

/** Of an object that is an identifier itself; one that names no type may be of any. */
function identifierIn(kind: Kind, object: JsonObject): readonly Named[] {
  const raw = memberNamed(object, 'identifier_value')
  if (raw === undefined) return []
  const type = identifierTypeOf(kind, ANYWHERE, object)
  if (type === undefined)
    return typeof raw === 'string' || typeof raw === 'number' ? bareIdentifiers(kind, raw, 1) : []
  const value = identifierValue(type, raw)
  return value === null ? [] : [{ type: type.name, value }]
}

/** Of an object of which the kind does not say more: an identifier itself, or bearing some. */
function identifiersWithin(kind: Kind, object: JsonObject): readonly Named[] {
  const valuesOf = (names: readonly string[]): readonly JsonValue[] =>
    names.flatMap((name) => [memberNamed(object, name) ?? []].flat())
  const listed = valuesOf(['identifier', 'member_identifier']).flatMap((one) => {
    if (isJsonObject(one)) return identifierIn(kind, one)
    return typeof one === 'string' || typeof one === 'number' ? bareIdentifiers(kind, one, 1) : []
  })
  const deeper = valuesOf(['demographic_info', 'person'])
    .filter(isJsonObject)
    .flatMap((one) => identifiersWithin(kind, one))
  return [...identifierIn(kind, object), ...listed, ...deeper]
}

/** As an identifier of each type that is no means of contact: several people share a telephone. */
function bareIdentifiers(kind: Kind, raw: string | number, length: number): readonly Named[] {
  if (String(raw).length < length) return []
  return [...kind.identifier_types, UNLISTED].flatMap((type) => {
    const value = isContact(type) ? null : identifierValue(type, raw)
    return value === null ? [] : [{ type: type.name, value }]
  })
}

/** Whether identifiers of the type are means of contact, which several people share: a telephone, a mailbox. */
export const isContact = ({ normaliser }: Pick<IdentifierType, 'normaliser'>): boolean =>
  normaliser === 'phone' || normaliser === 'email'
