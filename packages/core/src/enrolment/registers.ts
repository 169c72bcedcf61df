/**
 * Members of a JSON object as last-writer-wins registers: whichever order a set of writes comes in, and however often, the
 * object ends the same. Beside the object stands a tree of stamps: who wrote what last.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import { memberKey } from './member-keys.ts'

/** The order of writes: texts that compare as the writes follow each other. */
export type Stamp = string

/** What is known of one member. */
export interface Register {
  /** The latest write of a value: a text, a number, a list, or null, which removes the member. */
  value?: Stamp
  /** The latest write of an object; of what was written below it, what is later than `value` stands. */
  object?: Stamp
  /** What was written below it, by `searchKey` of the member, or by the key of a list's element. */
  members?: Map<string, Register>
}

/** A write that gives one stamp to all that it has. */
export interface Write {
  readonly stamp: Stamp
  /** The keys of the elements of a list whose elements are merged one by one; undefined: the list is one value. */
  readonly keyOf: (path: string, element: JsonValue) => string | null | undefined
}

/**
 * The object with the patch written into it. Members are found under any of their spellings, and have the spelling of the
 * latest write. The register is changed, the object is not.
 * @param path of the object, dotted; '' for the whole
 */
export function writeObject(
  register: Register,
  object: JsonObject,
  patch: JsonObject,
  write: Write,
  path = '',
): JsonObject {
  const members = new Map(Object.entries(object))
  const names = new Map([...members.keys()].map((name) => [memberKey(name), name]))
  // Of two spellings of one member the last one counts.
  const written = new Map(Object.entries(patch).map(([name, value]) => [memberKey(name), { name, value }]))
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

/** @returns undefined: there is no such member any more */
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
  if (stamp < (register.object ?? '')) return forget(register, before, stamp)
  delete register.object
  delete register.members
  return patch === null ? undefined : patch
}

const later = (one: Stamp | undefined, other: Stamp): Stamp => (one === undefined || one < other ? other : one)

/** An object was written later than a value: of what stands in it, what was written before the value goes. */
function forget(register: Register, before: JsonValue | undefined, stamp: Stamp): JsonValue | undefined {
  for (const [key, below] of register.members ?? []) {
    if (latestOf(below) < stamp) register.members?.delete(key)
  }
  if (!isJsonObject(before)) return before
  const kept = Object.entries(before).flatMap(([name, value]): [string, JsonValue][] => {
    const below = register.members?.get(memberKey(name))
    if (below === undefined) return []
    const after = below.object === undefined ? value : forget(below, value, stamp)
    return after === undefined ? [] : [[name, after]]
  })
  return Object.fromEntries(kept)
}

/**
 * Each element is one value, known by its key; no element leaves. One that stands alone in place of a list stays alone
 * where no other joins it.
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

/** What a list holds; one value in place of a list is its only element. */
export function elementsOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null || value === '' ? [] : [value]
}

/** In the order of the keys, so that it does not depend on the order of writes. */
export function asList(elements: ReadonlyMap<string, JsonValue>, alone: boolean): JsonValue | undefined {
  const list = [...elements].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, element]) => element)
  const [only, ...others] = list
  return alone && others.length === 0 ? only : list
}
