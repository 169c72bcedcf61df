/**
 * Merges writes of a JSON object so that their order and repetition do not matter: for each member, the write with the latest
 * stamp wins ("last-writer-wins register"). A tree of `LastWriteRegister` beside the object has the stamps of the writes.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import { memberSearchKey } from './member-keys.ts'

/** The order of writes, as text: a later write has a greater stamp. */
export type Stamp = string

/** The stamps of one member. */
export interface LastWriteRegister {
  /** The stamp of the last write that was not an object: such as a text, a list, or null, which removes the member. */
  value?: Stamp
  /**
   * The stamp of the last object that was written. If the `value` of this register is later than the stamp of a member inside,
   * the member is removed.
   */
  object?: Stamp
  /** The registers of the members inside, by the `searchKey` of the name, or by the key of a list element. */
  members?: Map<string, LastWriteRegister>
}

/** A write, with the same stamp for all its members. */
export interface StampedWrite {
  readonly stamp: Stamp
  /**
   * Returns the key by which a list element is merged; null: the element has no key; undefined: the elements of this list are not
   * merged, a write replaces the whole list.
   */
  readonly keyOf: (path: string, element: JsonValue) => string | null | undefined
}

/**
 * Writes the members of the patch into the object, except those with a later write, and returns the new object. A member is
 * found in any spelling, and gets the spelling of the latest write. The register is changed in place.
 * @param path the dotted path of the object; '' for the record
 */
export function mergePatchIntoObject(
  register: LastWriteRegister,
  object: JsonObject,
  patch: JsonObject,
  write: StampedWrite,
  path = '',
): JsonObject {
  const members = new Map(Object.entries(object))
  // If the patch has two spellings of a member, the last one is used.
  const written = new Map(Object.entries(patch).map(([name, value]) => [memberSearchKey(name), { name, value }]))
  const names = new Map<string, string>()
  for (const name of members.keys()) {
    const key = memberSearchKey(name)
    if (written.has(key)) names.set(key, name)
  }
  for (const [key, { name, value }] of written) {
    const below = ensureMemberRegister(register, key)
    const held = names.get(key)
    const before = held === undefined ? undefined : members.get(held)
    const isLatest = write.stamp >= latestStampOf(below)
    const after = mergePatchIntoMember(below, before, value, write, path === '' ? key : `${path}.${key}`)
    if (held !== undefined) members.delete(held)
    if (after === undefined) continue
    const called = isLatest || held === undefined ? name : held
    members.set(called, after)
    names.set(key, called)
  }
  return Object.fromEntries(members)
}

const latestStampOf = ({ value = '', object = '' }: LastWriteRegister): Stamp => (value > object ? value : object)

/** Returns the register of the member with this key; a missing register is added, empty. */
export function ensureMemberRegister(register: LastWriteRegister, key: string): LastWriteRegister {
  register.members ??= new Map()
  const found = register.members.get(key) ?? {}
  register.members.set(key, found)
  return found
}

/**
 * Writes one member, unless its register has a later stamp.
 * @returns the value of the member afterwards; undefined when it is removed
 */
function mergePatchIntoMember(
  register: LastWriteRegister,
  before: JsonValue | undefined,
  patch: JsonValue,
  write: StampedWrite,
  path: string,
): JsonValue | undefined {
  const { stamp } = write
  if (write.keyOf(path, null) !== undefined) return mergePatchIntoList(register, before, patch, write, path)
  if (isJsonObject(patch)) {
    if (stamp < (register.value ?? '')) return before
    if (register.object === undefined || register.object < stamp) register.object = stamp
    return mergePatchIntoObject(register, isJsonObject(before) ? before : {}, patch, write, path)
  }
  if (stamp < (register.value ?? '')) return before
  register.value = stamp
  if (stamp < (register.object ?? '')) return dropMembersBeforeStamp(register, before, stamp)
  delete register.object
  delete register.members
  return patch === null ? undefined : patch
}

/** Removes the members of an object that were written before the stamp, and the members without a register. */
function dropMembersBeforeStamp(register: LastWriteRegister, before: JsonValue | undefined, stamp: Stamp): JsonValue | undefined {
  for (const [key, below] of register.members ?? []) {
    if (latestStampOf(below) < stamp) register.members?.delete(key)
  }
  if (!isJsonObject(before)) return before
  const kept = Object.entries(before).flatMap(([name, value]): [string, JsonValue][] => {
    const below = register.members?.get(memberSearchKey(name))
    if (below === undefined) return []
    const after = below.object === undefined ? value : dropMembersBeforeStamp(below, value, stamp)
    return after === undefined ? [] : [[name, after]]
  })
  return Object.fromEntries(kept)
}

/**
 * Writes a list element by element. No element is removed. The result is a single value only if neither `before` nor `patch` is
 * an array and there is one element.
 */
function mergePatchIntoList(
  register: LastWriteRegister,
  before: JsonValue | undefined,
  patch: JsonValue,
  { stamp, keyOf }: StampedWrite,
  path: string,
): JsonValue | undefined {
  const alone = !Array.isArray(before) && !Array.isArray(patch)
  const keyed = (element: JsonValue): [string, JsonValue] => [keyOf(path, element) ?? canonicalJson(element), element]
  const elements = new Map(elementsOfValue(before).map(keyed))
  for (const [key, element] of elementsOfValue(patch).map(keyed)) {
    const below = ensureMemberRegister(register, key)
    if (stamp < (below.value ?? '')) continue
    below.value = stamp
    elements.set(key, element)
  }
  return listOrSingleElement(elements, alone)
}

/** The elements of a list; a single value as its only element; none for null, '' and undefined. */
export function elementsOfValue(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null || value === '' ? [] : [value]
}

/**
 * The elements as a list in the order of their keys, so that the order of writes does not matter.
 * @param alone true: one element is returned without a list, and undefined is returned when there is no element
 */
export function listOrSingleElement(elements: ReadonlyMap<string, JsonValue>, alone: boolean): JsonValue | undefined {
  const list = [...elements].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, element]) => element)
  const [only, ...others] = list
  return alone && others.length === 0 ? only : list
}
