/** Cuts a record down to what a grant shows. */
import {
  identifierTypeOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberNamed,
  type Relation,
  searchKey,
} from '@rollcall/protocol'
import type { ShownIdentifierTypes, VisibleTreeNode } from '../model/grant.ts'

/** Members that describe an object, not a person. They are shown when another member of the object is shown. */
export const JSON_LD_STRUCTURE_MEMBERS = ['@type', '@context']
const IDENTIFIER_MEMBERS = ['identifier_type', 'identifier_value']

/** Another person in a record, of whom something is shown. */
export interface RelatedPerson {
  readonly relation: Relation
  /** The person's value in the record, before it is cut. */
  readonly person: JsonValue
  /** The shown part of the person. It is the same JavaScript object as in the shown part of the record, not a copy. */
  readonly shown: JsonValue
}

/** The shown identifier types, and the function that is called for each related person (not a callback of the protocol). */
interface RecordCutOptions extends ShownIdentifierTypes {
  readonly found: (person: RelatedPerson) => void
}

/**
 * The part of a record that a grant shows; an empty object when nothing is shown.
 * @param found is called for each person of a relation, such as a parent, about whom something is shown
 */
export function cutRecord(
  seen: ShownIdentifierTypes,
  visible: VisibleTreeNode,
  record: JsonObject,
  found: RecordCutOptions['found'] = () => {},
): JsonObject {
  const cut = cutValue({ ...seen, found }, [visible], record)
  return isJsonObject(cut) ? cut : {}
}

/** Cuts a value. @param here nodes of visible trees: a part of the value is shown when any node shows it */
function cutValue(cutting: RecordCutOptions, here: readonly VisibleTreeNode[], value: JsonValue): JsonValue | undefined {
  const cut = cutValueWithoutCallback(cutting, here, value)
  // A list is not a person. `found` is called for each element of the list instead.
  if (cut === undefined || Array.isArray(value)) return cut
  for (const { relation } of here) if (relation) cutting.found({ relation, person: value, shown: cut })
  return cut
}

function cutValueWithoutCallback(
  seen: RecordCutOptions,
  here: readonly VisibleTreeNode[],
  value: JsonValue,
): JsonValue | undefined {
  const isLike = here.some(({ like }) => like !== undefined)
  const parts = isLike ? here.flatMap((part) => (part.like === undefined ? [part] : [part, part.like])) : here
  if (parts.some(({ whole }) => whole)) return value
  if (Array.isArray(value)) {
    // A list directly inside a list is not shown: readers of attributes take nothing from it either.
    const elements = value.filter((element) => !Array.isArray(element))
    const shown = elements.flatMap((element) => cutValue(seen, here, element) ?? [])
    return shown.length === 0 ? undefined : shown
  }
  const isIdentifier = parts.some(({ identifiers }) => identifiers.some((source) => isIdentifierShown(seen, source, value)))
  if (isJsonObject(value)) return cutObject(seen, parts, value, isIdentifier)
  // Only `here` is asked, not the trees in `like`: these are of related persons, who are objects and not plain values.
  return isIdentifier || here.some((part) => part.value) ? value : undefined
}

function cutObject(
  seen: RecordCutOptions,
  parts: readonly VisibleTreeNode[],
  object: JsonObject,
  isIdentifier: boolean,
): JsonObject | undefined {
  const names = Object.keys(object)
  const keys = names.map(cachedSearchKey)
  const unread = unreadDuplicateNames(object, names, keys)
  const members: [name: string, value: JsonValue][] = []
  let isShown = false
  for (let at = 0; at < names.length; at += 1) {
    const [name, key] = [names[at] as string, keys[at] as string]
    const value = object[name] as JsonValue
    if (unread.has(name)) continue
    if (JSON_LD_STRUCTURE_MEMBERS.includes(name)) {
      if ((Array.isArray(value) ? value : [value]).every((one) => typeof one === 'string')) members.push([name, value])
      continue
    }
    const below = parts.flatMap((part) => part.members.get(key) ?? [])
    const isNamed = isIdentifier && IDENTIFIER_MEMBERS.includes(key) && (typeof value !== 'object' || value === null)
    const cut = isNamed ? value : below.length === 0 ? undefined : cutValue(seen, below, value)
    if (cut === undefined) continue
    members.push([name, cut])
    isShown = true
  }
  return isShown ? Object.fromEntries(members) : undefined
}

/**
 * When several members of an object have one name in different spellings, readers read only one of these members. Returns the
 * names of the members that are not read.
 */
function unreadDuplicateNames(object: JsonObject, names: readonly string[], keys: readonly string[]): ReadonlySet<string> {
  if (new Set(keys).size === keys.length) return EMPTY_NAME_SET
  const namesByKey = Map.groupBy(names, (_, at) => keys[at] as string)
  return new Set(
    [...namesByKey].flatMap(([key, same]) => {
      if (same.length === 1) return []
      // Only the members in `same` are searched: a search of the whole object for each key would take too long.
      const read = memberNamed(Object.fromEntries(same.map((name) => [name, object[name] as JsonValue])), key)
      return same.filter((name) => object[name] !== read)
    }),
  )
}

/** The keys (`searchKey`) of member names, remembered by name: records of a registry share their names. */
const searchKeyByName = new Map<string, string>()
/** The most member names whose keys are remembered; then all are forgotten. */
const MOST_CACHED_NAMES = 10_000

function cachedSearchKey(name: string): string {
  let key = searchKeyByName.get(name)
  if (key === undefined) {
    if (searchKeyByName.size >= MOST_CACHED_NAMES) searchKeyByName.clear()
    key = searchKey(name)
    searchKeyByName.set(name, key)
  }
  return key
}

const EMPTY_NAME_SET: ReadonlySet<string> = new Set()

function isIdentifierShown(
  { kind, types }: ShownIdentifierTypes,
  source: VisibleTreeNode['identifiers'][number],
  value: JsonValue,
): boolean {
  const type = identifierTypeOf(kind, source, value)
  return type !== undefined && (types === null || types.has(type.name))
}
