/**
 * Reads parts of a record as they are written, for answers and notifications. Names of members are found in every
 * spelling of `record-keys.ts`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { Attribute, Compound, CompoundMember, IdentifierType, Kind, RecordType } from '../kinds/kind.ts'
import { identifierTypeOf, identifierValue } from './read-identifiers.ts'
import { otherKeys } from './record-keys.ts'
import { compilePath, readMemberByStep, visitValuesAt } from './walk.ts'

/** Returns a function that reads a member of an object in any spelling; undefined when the member has no value. */
export function heldMember(name: string): (object: JsonObject) => JsonValue | undefined {
  const step = { key: name, spellings: otherKeys(name) }
  return (object) => readMemberByStep(object, step)
}

/**
 * Returns a function that reads an attribute as written, at the first of its paths that has a value: the first value
 * there, or with `many` all of them as a list. Undefined when there is none.
 */
export function heldValue(attribute: Attribute): (document: JsonValue) => JsonValue | undefined {
  const read = makeScalarsReader(attribute.paths, attribute.many === true)
  return (document) => {
    const held = read(document)
    return attribute.many === true && held.length > 0 ? held : held[0]
  }
}

/**
 * Returns a function that reads the elements of a compound as objects with canonical member names. The function uses the first
 * path of the compound at which an element has a value, and leaves out elements that have no value at all.
 */
export function heldElements(compound: Compound): (document: JsonValue) => JsonObject[] {
  const members = compound.members.map(({ name, paths }) => ({ name, read: makeScalarsReader(paths) }))
  return readerAtFirstPath(compound, (leaf) => {
    const said = members.flatMap(({ name, read }) => {
      const [value] = read(leaf)
      return value === undefined ? [] : [[name, value] as const]
    })
    return said.length === 0 ? [] : [Object.fromEntries(said)]
  })
}

/** Returns a function that reads one member of each element of a compound; if no element has it, at its `record_paths`. */
export function heldMemberValues(compound: Compound, member: CompoundMember): (document: JsonValue) => JsonValue[] {
  const inElements = readerAtFirstPath(compound, makeScalarsReader(member.paths))
  const inRecord = makeScalarsReader(member.record_paths ?? [], true)
  return (document) => {
    const held = inElements(document)
    return held.length > 0 ? held : inRecord(document)
  }
}

/** Returns a function that reads values at the first path of the compound where there are any. */
function readerAtFirstPath<Value>(
  compound: Compound,
  read: (leaf: JsonValue) => readonly Value[],
): (document: JsonValue) => Value[] {
  const places = compound.paths.map(compilePath)
  return (document) => {
    for (const place of places) {
      const held: Value[] = []
      visitValuesAt(document, place, (leaf) => {
        held.push(...read(leaf))
        return false
      })
      if (held.length > 0) return held
    }
    return []
  }
}

/**
 * Returns a function that reads the values of one identifier type, at the places that the record type lists, as they are
 * written. Values that cannot be normalised are left out; of values that are equal when normalised, the first is kept.
 */
export function heldIdentifiers(kind: Kind, recordType: RecordType, type: IdentifierType): (document: JsonValue) => JsonValue[] {
  const sources = recordType.identifiers.map((source) => ({ source, path: compilePath(source.path) }))
  const value = heldMember('identifier_value')
  return (document) => {
    const found = new Map<string, JsonValue>()
    for (const { source, path } of sources) {
      visitValuesAt(document, path, (leaf) => {
        if (identifierTypeOf(kind, source, leaf) !== type) return false
        const raw = isJsonObject(leaf) ? value(leaf) : leaf
        const normalised = identifierValue(type, raw)
        if (raw !== undefined && normalised !== null && !found.has(normalised)) found.set(normalised, raw)
        return false
      })
    }
    return [...found.values()]
  }
}

/** Returns a function that reads all objects and plain values at a path, in the order of the document. */
export function heldAt(path: string): (document: JsonValue) => JsonValue[] {
  const compiled = compilePath(path)
  return (document) => {
    const held: JsonValue[] = []
    visitValuesAt(document, compiled, (leaf) => {
      held.push(leaf)
      return false
    })
    return held
  }
}

/**
 * Returns a function that reads the plain values at the first of `paths` that has any: with `all` every one, otherwise only the
 * first.
 */
function makeScalarsReader(paths: readonly string[], all = false): (value: JsonValue) => JsonValue[] {
  const compiled = paths.map(compilePath)
  return (value) => {
    const held: JsonValue[] = []
    for (const path of compiled) {
      visitValuesAt(value, path, (leaf) => {
        if (isJsonObject(leaf)) return false
        held.push(leaf)
        return !all
      })
      if (held.length > 0) break
    }
    return held
  }
}
