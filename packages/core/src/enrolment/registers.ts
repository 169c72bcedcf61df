/**
 * Members of a JSON object as last-writer-wins registers: any order and repetition of the same writes leads to the same
 * object. A tree of stamps beside the object notes the latest write of each member.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import { memberSearchKey } from './member-keys.ts'

/** Orders the writes: a later write has a greater text. */
export type Stamp = string

/** The writes of one member. */
export interface Register {
  /** The stamp of the latest value: a text, a number, a list, or null, which removes the member. */
  value?: Stamp
  /** The stamp of the latest object. A member below remains only when it was written after `value`. */
  object?: Stamp
  /** The registers of the members below, by `searchKey` of the name, or by the key of a list element. */
  members?: Map<string, Register>
}

/** A write with one stamp for all its members. */
export interface Write {
  readonly stamp: Stamp
  /** The key of a list element, for lists that are merged element by element; undefined: the list is one value. */
  readonly keyOf: (path: string, element: JsonValue) => string | null | undefined
}

/**
 * Writes the patch into the object. A member is found under any of its spellings, and takes the spelling of the latest
 * write. The register is changed, the object is not.
 * @param path the dotted path of the object; '' for the record
 */
export function writeObject(
  register: Register,
  object: JsonObject,
  patch: JsonObject,
  write: Write,
  path = '',
): JsonObject {
  const members = new Map(Object.entries(object))
  const names = new Map([...members.keys()].map((name) => [memberSearchKey(name), name]))
  // If the patch has two spellings of a member, the last one is used.
  const written = new Map(Object.entries(patch).map(([name, value]) => [memberSearchKey(name), { name, value }]))
  for (const [key, { name, value }] of written) {
    const below = registerOf(register, key)
    const held = names.get(key)
    const before = held === undefined ? undefined : members.get(held)
    const isLatest = write.stamp >= latestOf(below)
    const after = writeMember(below, before, value, write, path === '' ? key : `${path}.${key}`)
    if (held !== undefined) members.delete(held)
    if (after === undefined) continue
    const called = isLatest || held === undefined ? name : held
    members.set(called, after)
    names.set(key, called)
  }
  return Object.fromEntries(members)
}

const latestOf = ({ value = '', object = '' }: Register): Stamp => (value > object ? value : object)

export function registerOf(register: Register, key: string): Register {
  register.members ??= new Map()
  const found = register.members.get(key) ?? {}
  register.members.set(key, found)
  return found
}

/** @returns undefined: the member was removed */
function writeMember(
  register: Register,
  before: JsonValue | undefined,
  patch: JsonValue,
  write: Write,
  path: string,
): JsonValue | undefined {
  const { stamp } = write
  if (write.keyOf(path, null) !== undefined) return writeList(register, before, patch, write, path)
  if (isJsonObject(patch)) {
    if (stamp < (register.value ?? '')) return before
    register.object = later(register.object, stamp)
    return writeObject(register, isJsonObject(before) ? before : {}, patch, write, path)
  }
  if (stamp < (register.value ?? '')) return before
  register.value = stamp
  if (stamp < (register.object ?? '')) return dropOlder(register, before, stamp)
  delete register.object
  delete register.members
  return patch === null ? undefined : patch
}

const later = (one: Stamp | undefined, other: Stamp): Stamp => (one === undefined || one < other ? other : one)

/** Removes the members that were written before the value, if the object was written after the value. */
function dropOlder(register: Register, before: JsonValue | undefined, stamp: Stamp): JsonValue | undefined {
  for (const [key, below] of register.members ?? []) {
    if (latestOf(below) < stamp) register.members?.delete(key)
  }
  if (!isJsonObject(before)) return before
  const kept = Object.entries(before).flatMap(([name, value]): [string, JsonValue][] => {
    const below = register.members?.get(memberSearchKey(name))
    if (below === undefined) return []
    const after = below.object === undefined ? value : dropOlder(below, value, stamp)
    return after === undefined ? [] : [[name, after]]
  })
  return Object.fromEntries(kept)
}

/**
 * Writes a list element by element. No element is removed. A single value in place of a list stays a single value if no
 * other element joins it.
 */
function writeList(
  register: Register,
  before: JsonValue | undefined,
  patch: JsonValue,
  { stamp, keyOf }: Write,
  path: string,
): JsonValue | undefined {
  const alone = !Array.isArray(before) && !Array.isArray(patch)
  const keyed = (element: JsonValue): [string, JsonValue] => [keyOf(path, element) ?? canonicalJson(element), element]
  const elements = new Map(elementsOf(before).map(keyed))
  for (const [key, element] of elementsOf(patch).map(keyed)) {
    const below = registerOf(register, key)
    if (stamp < (below.value ?? '')) continue
    below.value = stamp
    elements.set(key, element)
  }
  return asList(elements, alone)
}

/** The elements of a list. A single value is its only element. */
export function elementsOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null || value === '' ? [] : [value]
}

/** The list in the order of the keys, so that the order of writes does not matter. */
export function asList(elements: ReadonlyMap<string, JsonValue>, alone: boolean): JsonValue | undefined {
  const list = [...elements].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, element]) => element)
  const [only, ...others] = list
  return alone && others.length === 0 ? only : list
}
