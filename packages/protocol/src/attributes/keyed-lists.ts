/** The keys of list elements. Two elements that have a key in common are the same element. */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { KeyedList } from '../kinds/event-rules.ts'
import { UNLISTED } from '../kinds/identifier-types.ts'
import type { Attribute, IdentifierSource, Kind, RecordType } from '../kinds/kind.ts'
import { oncePerObject } from '../once-per.ts'
import { readAttribute } from './read-attribute.ts'
import { identifierTypeOf, identifierValue } from './read-identifiers.ts'
import { searchKey } from './record-keys.ts'
import { type CompiledPath, compilePath, readMemberByStep, visitValuesAt } from './walk.ts'

/** The keyed list at a path of a record, in any spelling of the path; undefined when there is none. */
export function keyedListAt(recordType: RecordType, path: string): KeyedList | undefined {
  const wanted = searchKey(path)
  return recordType.keyed_lists.find(({ paths }) => paths.some((one) => searchKey(one) === wanted))
}

/** The keys of one element; empty when nothing identifies it. @param path the path of the element's list */
export function elementKeys(
  kind: Kind,
  recordType: RecordType,
  list: KeyedList,
  path: string,
  element: JsonValue,
): readonly string[] {
  const keys = new Set<string>()
  const { identifiers, value: attribute } = elementKeyPathsOf(list)
  for (const { inside, compiled } of identifiers) {
    const source = identifierPlaceAt(recordType, inside === '' ? path : `${path}.${inside}`)
    visitValuesAt(element, compiled, (leaf) => {
      const key = identifierKey(kind, source, leaf)
      if (key !== null) keys.add(key)
      return false
    })
  }
  const value = attribute === null ? null : readAttribute(attribute, element)
  if (value !== null) keys.add(JSON.stringify([value]))
  return [...keys]
}

/** The places inside an element of a keyed list at which the keys of the element are. */
interface ElementKeyPaths {
  readonly identifiers: readonly { readonly inside: string; readonly compiled: CompiledPath }[]
  /** Reads the key that is not an identifier, at the paths in `values` of the list; null when the list has no `values`. */
  readonly value: Attribute | null
}

const elementKeyPathsOf = oncePerObject(
  ({ name, identifiers = [], values }: KeyedList): ElementKeyPaths => ({
    identifiers: identifiers.map((inside) => ({ inside, compiled: compilePath(inside) })),
    value: values === undefined ? null : { name, paths: values, type: 'text', fold: true },
  }),
)

/** For each element of a list in a document, its keys. */
export function keysInList(
  kind: Kind,
  recordType: RecordType,
  list: KeyedList,
  document: JsonValue,
): readonly (readonly string[])[] {
  const found: (readonly string[])[] = []
  for (const path of list.paths) {
    visitValuesAt(document, compilePath(path), (element) => {
      found.push(elementKeys(kind, recordType, list, path, element))
      return false
    })
  }
  return found
}

/** The source of identifiers at a path, with the identifier type for values that name none, if the record type gives one. */
function identifierPlaceAt(recordType: RecordType, path: string): IdentifierSource {
  const found = recordType.identifiers.find((source) => source.path === path)
  return { path, names: 'record', ...(found?.type !== undefined && { type: found.type }) }
}

const [TYPE, VALUE] = [compilePath('identifier_type'), compilePath('identifier_value')]

/**
 * The key of an identifier: its type, also the written name of a type that the kind does not list, and its value. Null when the
 * value cannot be normalised.
 */
function identifierKey(kind: Kind, source: IdentifierSource, leaf: JsonValue): string | null {
  const type = identifierTypeOf(kind, source, leaf) ?? UNLISTED
  const value = identifierValue(type, isJsonObject(leaf) ? readMemberByOneStepPath(leaf, VALUE) : leaf)
  if (value === null) return null
  const called = isJsonObject(leaf) && type === UNLISTED ? readMemberByOneStepPath(leaf, TYPE) : undefined
  return JSON.stringify([type.name, typeof called === 'string' ? searchKey(called) : '', value])
}

/** The member at the first step of a path. `TYPE` and `VALUE` have one step each. */
const readMemberByOneStepPath = (object: { readonly [key: string]: JsonValue }, [step]: typeof TYPE): JsonValue | undefined =>
  step === undefined ? undefined : readMemberByStep(object, step)
