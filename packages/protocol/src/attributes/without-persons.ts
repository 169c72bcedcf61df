/**
 * Removes other persons from a record: a member of a household, or a relative. Numbers that count them are reduced,
 * because unchanged ones would show that somebody is missing.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { Kind, RecordType, Relation } from '../kinds/kind.ts'
import { oncePerObject } from '../once-per.ts'
import { distinguishingIdentifiers, identifiersOfUntypedValue, identifiersWithin, withPathsAbove } from './identifiers-within.ts'
import { readAttribute } from './read-attribute.ts'
import type { RecordIdentifier } from './read-identifiers.ts'
import { searchKey } from './record-keys.ts'
import { memberNamed } from './walk.ts'

/** A person in a record, other than the one whom the record is about, such as a member of the household. */
export interface OtherPerson {
  /** The identifiers by which the record names the person. */
  readonly identifiers: readonly Pick<RecordIdentifier, 'type' | 'value'>[]
  /** The relation of the kind in which the person is; null when the person is elsewhere in the document. */
  readonly relation: Relation | null
  /** The data of the person as a record; null for an identifier alone, or data that belong to no record type. */
  readonly record: { readonly recordType: RecordType; readonly document: JsonObject } | null
}

/**
 * Decides whether to remove a person: null keeps the person, and a text removes the person. When removed persons are counted, two
 * with the same text are one person; two with a common identifier always are. The text '' identifies nobody.
 */
export type TakesOut = (person: OtherPerson) => string | null

/**
 * The record without the persons that `takesOut` removes; the same object when there are none. Objects that become
 * empty are removed, and attributes that count persons are reduced.
 * @param document a record of this type
 */
export function withoutPersons(kind: Kind, recordType: RecordType, document: JsonObject, takesOut: TakesOut): JsonObject {
  const scope: PersonRemovalState = { kind, takesOut, persons: [], recordType, places: personPathsOf(recordType) }
  const left = cutPersonsFromMembers(scope, '', document)
  return isJsonObject(left) ? left : {}
}

/** The state while persons are removed from one record: its type, who is removed, and the persons found so far. */
interface PersonRemovalState {
  readonly kind: Kind
  readonly takesOut: TakesOut
  /** The persons found so far in relations that an attribute counts, removed or not. */
  readonly persons: PersonCountedInRecord[]
  readonly recordType: RecordType
  readonly places: PersonPaths
}

interface PersonCountedInRecord {
  /** Texts that identify the person: two entries with a common text are the same person. */
  readonly marks: readonly string[]
  readonly isLeft: boolean
}

/** The places that matter when persons are removed from records of a type, by search keys of their paths. */
interface PersonPaths {
  /** The paths of the record's own identifiers, and all paths above them. */
  readonly own: ReadonlySet<string>
  readonly relations: ReadonlyMap<string, Relation>
  /**
   * For each path of an object that has persons inside, the paths of these persons. The object is removed when all persons at
   * one of these paths were removed, even if persons are left at another of the paths.
   */
  readonly entries: ReadonlyMap<string, readonly string[]>
  /** The paths of attributes whose numbers count persons, such as the size of a household. */
  readonly counts: ReadonlySet<string>
}

const personPathsOf = oncePerObject(({ identifiers, attributes, relations = [] }: RecordType): PersonPaths => {
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
    own: new Set(identifiers.filter(({ names }) => names === 'record').flatMap(({ path }) => withPathsAbove(searchKey(path)))),
    relations: new Map(relations.flatMap((row) => row.paths.map((path) => [searchKey(path), row] as const))),
    entries,
    counts: new Set(counts.map(searchKey)),
  }
})

/** Removes persons from a value; undefined when nothing is left. */
function cutPersonsFromValue(scope: PersonRemovalState, path: string, value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    const left = value.map((element) => cutPersonsFromValue(scope, path, element))
    if (left.every((element, at) => element === value[at])) return value
    const kept = left.filter((element) => element !== undefined)
    return kept.length === 0 ? undefined : kept
  }
  if (value === null || typeof value === 'boolean') return value
  const relation = scope.places.relations.get(path)
  if (relation !== undefined) return cutPersonsFromRelation(scope, path, relation, value)
  if (!scope.places.own.has(path) && isOrNamesRemovedPerson(scope, value)) return undefined
  return isJsonObject(value) ? cutPersonsFromMembers(scope, path, value) : value
}

/** Removes persons from a value in a relation. @param value another person, or an object with persons deeper inside */
function cutPersonsFromRelation(
  scope: PersonRemovalState,
  path: string,
  relation: Relation,
  value: JsonObject | string | number,
): JsonValue | undefined {
  const { kind, takesOut } = scope
  const recordType = kind.record_types.find(({ name }) => name === relation.record_type) ?? null
  const count = (key: string | null, identifiers: OtherPerson['identifiers']): void => {
    if (relation.counted_by === undefined) return
    const marks = distinguishingIdentifiers(kind, recordType, identifiers).map(({ type, value: of }) => `${type}:${of}`)
    scope.persons.push({ marks: key ? [key, ...marks] : marks, isLeft: key === null })
  }
  if (recordType === null || !isJsonObject(value)) {
    const identifiers = isJsonObject(value) ? identifiersWithin(kind, value) : identifiersOfUntypedValue(kind, value, 1)
    const key = takesOut({ identifiers, relation, record: null })
    count(key, identifiers)
    if (key !== null) return undefined
    return isJsonObject(value) ? cutPersonsFromMembers(scope, path, value) : value
  }
  const identifiers = identifiersWithin(kind, value, recordType)
  const record = { recordType, document: value }
  const isAround = hasPersonsInside(scope.places, path, value)
  const isPerson = !isAround || hasOwnPersonData(recordType, value, identifiers)
  const key = takesOut({ identifiers, relation: isPerson ? relation : null, record })
  if (isAround || key !== null) {
    if (isPerson) count(key, identifiers)
    return key === null ? cutPersonsFromMembers(scope, path, value) : undefined
  }
  const [left, named] = cutOtherPersonsFromPerson(scope, recordType, value)
  const isUnnamed = distinguishingIdentifiers(kind, recordType, identifiers).length === 0
  const out = isUnnamed ? named : null
  count(out, identifiers)
  return out === null ? left : undefined
}

/** True when an object that has other persons inside also describes a person: it has identifiers, or a value of an attribute. */
const hasOwnPersonData = ({ attributes }: RecordType, value: JsonObject, identifiers: OtherPerson['identifiers']): boolean =>
  identifiers.length > 0 || attributes.some((one) => readAttribute(one, value) !== null)

/**
 * Removes persons from the data of another person, whom `takesOut` keeps.
 * @returns what is left (undefined for nothing), and what `takesOut` returned for the first removed person outside of relations
 * (null for none)
 */
function cutOtherPersonsFromPerson(
  scope: PersonRemovalState,
  recordType: RecordType,
  value: JsonObject,
): readonly [left: JsonValue | undefined, named: string | null] {
  let named: string | null = null
  const takesOut: TakesOut = (person) => {
    const key = scope.takesOut(person)
    if (person.relation === null && person.record === null) named ??= key
    return key
  }
  const inner = { ...scope, takesOut, persons: [], recordType, places: personPathsOf(recordType) }
  return [cutPersonsFromMembers(inner, '', value), named]
}

/** True when the object has persons of a relation inside, such as `household_member` in a `member_list`. */
const hasPersonsInside = ({ relations }: PersonPaths, path: string, value: JsonObject): boolean =>
  [...relations.keys()].some(
    (one) => one.startsWith(`${path}.`) && [memberNamed(value, one.slice(path.length + 1)) ?? []].flat().length > 0,
  )

/** Members that describe an object. An object that has only these after a removal is removed too. */
const JSON_LD_STRUCTURE_MEMBERS = ['@type', '@context', '@id']

function cutPersonsFromMembers(scope: PersonRemovalState, path: string, object: JsonObject): JsonValue | undefined {
  const entered = scope.places.entries.get(path)
  const gone: string[] = []
  let changed = false
  const members = Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
    const key = searchKey(name)
    // `identifier_value` was checked together with this object, which has the type: do not check it alone.
    if (key === 'identifier_value') return [[name, value]]
    const place = path === '' ? key : `${path}.${key}`
    const left = cutPersonsFromValue(
      mayReadersUseMember(scope, object, place, key, value) ? scope : { ...scope, places: { ...scope.places, own: new Set() } },
      place,
      value,
    )
    changed ||= left !== value
    if (left !== undefined) return [[name, left]]
    gone.push(place)
    return []
  })
  if (!changed) return object
  if (entered?.some((place) => gone.includes(place))) return undefined
  const isEmpty = members.every(([name]) => JSON_LD_STRUCTURE_MEMBERS.includes(name))
  if (path !== '' && isEmpty) return undefined
  return Object.fromEntries(members.map(([name, value]) => [name, reducePersonCount(scope, path, name, value)]))
}

/**
 * True when readers use this member. If an object has a member in two spellings, readers ignore one of them: its identifiers may
 * be another person's. Always true when the record's own identifiers are neither at `place` nor below.
 */
const mayReadersUseMember = (
  { places: { own } }: PersonRemovalState,
  object: JsonObject,
  place: string,
  key: string,
  value: JsonValue,
): boolean => !own.has(place) || memberNamed(object, key) === value

const PERSON_OUTSIDE_RELATIONS = { relation: null, record: null } as const

/** A count of persons without the removed persons (`countRemovedPersons`). The value of any other member is unchanged. */
function reducePersonCount({ places, persons }: PersonRemovalState, path: string, name: string, value: JsonValue): JsonValue {
  const key = searchKey(name)
  if (!places.counts.has(path === '' ? key : `${path}.${key}`)) return value
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number') return value
  const left = Math.max(0, number - countRemovedPersons(persons))
  return typeof value === 'string' ? String(left) : left
}

/** The number of persons who were removed everywhere in the record. Two entries with a common mark are one person. */
function countRemovedPersons(persons: readonly PersonCountedInRecord[]): number {
  const found = new Map<string, PersonCountedInRecord>()
  const people = new Set<PersonCountedInRecord>()
  for (const person of persons) {
    const same = new Set(person.marks.flatMap((mark) => found.get(mark) ?? []))
    const all = [...same, person]
    const one = { marks: all.flatMap(({ marks }) => marks), isLeft: all.some(({ isLeft }) => isLeft) }
    for (const entry of same) people.delete(entry)
    people.add(one)
    for (const mark of one.marks) found.set(mark, one)
  }
  return [...people].filter(({ isLeft }) => !isLeft).length
}

/** True when the value is a removed person's identifier, or an object that has one: the whole object is then that person's. */
function isOrNamesRemovedPerson({ kind, takesOut }: PersonRemovalState, value: JsonObject | string | number): boolean {
  const identifiers = isJsonObject(value)
    ? identifiersWithin(kind, value)
    : identifiersOfUntypedValue(kind, value, LEAST_CHECKED_VALUE_LENGTH)
  return identifiers.length > 0 && takesOut({ ...PERSON_OUTSIDE_RELATIONS, identifiers }) !== null
}

/** The smallest number of characters of a plain value, outside of relations, that is checked as an identifier. */
const LEAST_CHECKED_VALUE_LENGTH = 4
