/**
 * Merges part of a record into the record by JSON merge patch (RFC 7396). Lists with keyed elements are merged element
 * by element, and lose an element with a key only when the caller names it.
 */
import {
  canonicalJson,
  elementKeys,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KeyedList,
  keyedListAt,
  keysInList,
  readIdentifiers,
  searchKey,
} from '@rollcall/protocol'
import type { KindAndRecordType } from '../enrolment/keyed-paths.ts'
import { elementsOfValue } from '../enrolment/registers.ts'
import type { Identifier } from '../model/records.ts'
import { ElementPositionsByName, ObjectMembersByName } from './places.ts'

/** The patch cannot be merged. The message names the member and the rule, never a value. */
export class MergeProblem extends Error {
  override readonly name = 'MergeProblem'
}

/** The elements to remove, by the path of their list. */
export type ElementsToRemoveByPath = Readonly<Record<string, readonly JsonValue[]>>

/**
 * Merges the patch into the record and removes the named elements. A member is found under any of its spellings, and
 * keeps its place and spelling.
 * @throws MergeProblem
 */
export function mergePatchIntoRecord(
  scope: KindAndRecordType,
  record: JsonObject,
  patch: JsonObject,
  remove: ElementsToRemoveByPath = {},
): JsonObject {
  const merged = mergeObject(scope, '', record, patch)
  const removed = removeElements(scope, merged, remove)
  checkNoElementLostByMerge(scope, record, removed.record, removed.keys)
  return removed.record
}

/**
 * Merges a patch for a retired record into its survivor. The patch's identifiers of the retired record are left out first, where
 * they are in lists with keyed elements, so that the survivor does not get them.
 * @param record the survivor
 * @param aliases identifiers of the records that were merged into the survivor
 * @throws MergeProblem
 */
export function mergeIntoSurvivor(
  scope: KindAndRecordType,
  record: JsonObject,
  patch: JsonObject,
  aliases: readonly Identifier[],
  remove: ElementsToRemoveByPath = {},
): JsonObject {
  return mergePatchIntoRecord(scope, record, patchWithoutAliases(scope, record, patch, aliases), remove)
}

/**
 * The patch without the identifiers of retired records in its lists with keyed elements. An identifier that `record` has too
 * stays in the patch, and so does an identifier outside of such lists, such as `phone_number`.
 */
export function patchWithoutAliases(
  { kind, recordType }: KindAndRecordType,
  record: JsonObject,
  patch: JsonObject,
  aliases: readonly Identifier[],
): JsonObject {
  const textOf = ({ type, value }: Identifier): string => `${type}:${value}`
  const foreign = new Set(aliases.map(textOf))
  if (foreign.size === 0) return patch
  for (const own of readIdentifiers(kind, recordType, record)) foreign.delete(textOf(own))
  let left = patch
  for (const source of recordType.identifiers) {
    if (source.names !== 'record' || keyedListAt(recordType, source.path) === undefined) continue
    const path = source.path.split('.')
    const only = { ...recordType, identifiers: [source] }
    const isAlias = (element: JsonValue): boolean => {
      const placed = path.reduceRight<JsonValue>((inner, member) => ({ [member]: inner }), element)
      return readIdentifiers(kind, only, placed).some((one) => foreign.has(textOf(one)))
    }
    left = removeElementsAtPath(left, path, isAlias, 'drop')
  }
  return left
}

function mergeObject(scope: KindAndRecordType, path: string, object: JsonObject, patch: JsonObject): JsonObject {
  // `ObjectMembersByName` has a Map inside, because a member may be called `__proto__`.
  const merged = new ObjectMembersByName(Object.entries(object), searchKey)
  for (const [name, value] of Object.entries(patch)) {
    const key = merged.nameOf(name)
    const place = path === '' ? name : `${path}.${name}`
    if (value === null) merged.delete(key)
    else merged.set(key, mergeValue(scope, place, merged.members.get(key), value))
  }
  return Object.fromEntries(merged.members)
}

function mergeValue(scope: KindAndRecordType, path: string, value: JsonValue | undefined, patch: JsonValue): JsonValue {
  const list = keyedListAt(scope.recordType, path)
  if (list !== undefined) return mergeList(scope, list, path, value, patch)
  if (!isJsonObject(patch)) return patch
  return mergeObject(scope, path, isJsonObject(value) ? value : {}, patch)
}

/**
 * Merges a list. A single value counts as a list of one. Elements with the same key are merged. An element that has no key is
 * added, unless the list has an equal element. If neither `value` nor `patch` is an array, an object `patch` that has no key
 * is merged into `value`, and one resulting element is returned as a single value.
 */
function mergeList(
  scope: KindAndRecordType,
  list: KeyedList,
  path: string,
  value: JsonValue | undefined,
  patch: JsonValue,
): JsonValue {
  const elements = [...elementsOfValue(value)]
  const alone = !Array.isArray(patch) && !Array.isArray(value)
  const keysOf = (element: JsonValue): readonly string[] => {
    return elementKeys(scope.kind, scope.recordType, list, path, element)
  }
  const byKey = new ElementPositionsByName<JsonValue>(elements, keysOf)
  let byText: ElementPositionsByName<JsonValue> | undefined
  const placeOf = (element: JsonValue): number | undefined => {
    const keys = keysOf(element)
    if (keys.length > 0) return byKey.first(keys)
    if (alone && isJsonObject(element)) return 0
    byText ??= new ElementPositionsByName<JsonValue>(elements, (one) => [canonicalJson(one)])
    return byText.first([canonicalJson(mergeElement(scope, path, {}, element))])
  }
  for (const element of elementsOfValue(patch)) {
    const at = placeOf(element) ?? elements.length
    const merged = mergeElement(scope, path, elements[at] ?? {}, element)
    elements[at] = merged
    byKey.put(at, merged)
    byText?.put(at, merged)
  }
  const [only, ...others] = elements
  return alone && only !== undefined && others.length === 0 ? only : elements
}

function mergeElement(scope: KindAndRecordType, path: string, element: JsonValue, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch
  return mergeObject(scope, path, isJsonObject(element) ? element : {}, patch)
}

/** Removes the elements that `remove` has by path. @returns the record, and the keys in `remove` by their list's name */
function removeElements(
  { kind, recordType }: KindAndRecordType,
  record: JsonObject,
  remove: ElementsToRemoveByPath,
): { record: JsonObject; keys: ReadonlyMap<string, ReadonlySet<string>> } {
  const keys = new Map<string, Set<string>>()
  let left = record
  for (const [path, elements] of Object.entries(remove)) {
    const list = keyedListAt(recordType, path)
    if (list === undefined) {
      const known = recordType.keyed_lists.flatMap(({ paths }) => paths)
      throw new MergeProblem(`remove: each member must be one of the lists ${known.join(', ')}`)
    }
    const named = keys.get(list.name) ?? new Set()
    for (const [at, element] of elements.entries()) {
      const found = elementKeys(kind, recordType, list, path, element)
      if (found.length === 0) throw new MergeProblem(`remove.${path}[${at}]: must identify its element`)
      for (const key of found) named.add(key)
    }
    keys.set(list.name, named)
    const isRemoved = (element: JsonValue): boolean =>
      elementKeys(kind, recordType, list, path, element).some((key) => named.has(key))
    left = removeElementsAtPath(left, path.split('.'), isRemoved)
  }
  return { record: left, keys }
}

/** Removes elements of the list at one path. With `drop`, a list that becomes empty is removed too. */
function removeElementsAtPath(
  object: JsonObject,
  [name = '', ...rest]: readonly string[],
  isRemoved: (element: JsonValue) => boolean,
  emptied: 'keep' | 'drop' = 'keep',
): JsonObject {
  const key = new ObjectMembersByName(Object.entries(object), searchKey).nameOf(name)
  const value = object[key]
  if (value === undefined) return object
  if (rest.length === 0) {
    const kept = elementsOfValue(value).filter((element) => !isRemoved(element))
    if (emptied === 'drop' && kept.length === 0) {
      const { [key]: _, ...others } = object
      return others
    }
    return { ...object, [key]: Array.isArray(value) ? kept : (kept[0] ?? []) }
  }
  const removeInside = (one: JsonValue): JsonValue =>
    isJsonObject(one) ? removeElementsAtPath(one, rest, isRemoved, emptied) : one
  return { ...object, [key]: Array.isArray(value) ? value.map(removeInside) : removeInside(value) }
}

/**
 * Checks that each element with a key is still in the record after the merge, or was named for removal. An element could be lost
 * otherwise, when the patch replaces the object that contains its list.
 * @throws MergeProblem
 */
function checkNoElementLostByMerge(
  { kind, recordType }: KindAndRecordType,
  before: JsonObject,
  after: JsonObject,
  removed: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const list of recordType.keyed_lists) {
    const left = new Set(keysInList(kind, recordType, list, after).flat())
    const named = removed.get(list.name)
    for (const keys of keysInList(kind, recordType, list, before)) {
      if (keys.length === 0 || keys.some((key) => left.has(key) || named?.has(key))) continue
      throw new MergeProblem(`record: would take elements out of ${list.paths.join(' or ')}; name them in remove, or set replace`)
    }
  }
}
