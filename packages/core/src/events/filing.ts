/**
 * The keys for finding the subscriptions that a changed record may match. A filter that is true of a record has at
 * least one key in common with the record. A key is the most selective equality of the filter.
 */
import type { AttributeScalar, AttributeType } from '@rollcall/protocol'
import { sha256 } from '../model/digests.ts'
import type { Comparison, Literal, OneOf, Predicate } from '../model/predicate.ts'
import type { ExtractedRecord } from '../query/memory/extract-record.ts'

export interface FilingKey {
  readonly key: Uint8Array
  /** Whether every record with this key fulfils the filter, so that the filter need not be evaluated. */
  readonly whole: boolean
}

/** The text of the key of every record, for filters without an equality. Its key is empty. */
const EVERY = ''
const EMPTY = new Uint8Array(0)

/** Bytes of the digest: enough that two keys of a registry are not equal by chance. */
const KEY_BYTES = 16

/** The selectivity of an equality, by attribute type; types without an entry have no keys. */
const SELECTIVITY: Readonly<Partial<Record<AttributeType, number>>> = {
  text: 4,
  number: 3,
  date: 3,
  datetime: 3,
  code: 2,
  boolean: 1,
}
const IDENTIFIER_SELECTIVITY = 5

/** Alternative keys: a record that fulfils the filter has one of them. */
interface Filed {
  /** The selectivity of the least selective key. */
  readonly selectivity: number
  /** The texts of the keys; the value is `FilingKey.whole`. */
  readonly keys: ReadonlyMap<string, boolean>
}

/** @param predicate the predicate of the filter, before `resolveAges`; null: there is no filter */
export function filingKeys(predicate: Predicate | null): readonly FilingKey[] {
  if (predicate === null) return [{ key: digest(EVERY), whole: true }]
  const filed = keysOfPredicate(predicate, '')
  if (filed === null) return [{ key: digest(EVERY), whole: false }]
  return [...filed.keys].map(([text, whole]) => ({ key: digest(text), whole }))
}

/** A key that a record has before a change, after it, or both. */
export interface ChangeKey {
  readonly key: Uint8Array
  readonly before: boolean
  readonly after: boolean
}

/** The keys of a record before and after a change, each once; null: there was no record. */
export function changeKeys(before: ExtractedRecord | null, after: ExtractedRecord | null): readonly ChangeKey[] {
  const [earlier, later] = [keyTexts(before), keyTexts(after)]
  return [...new Set([...earlier, ...later])].map((text) => {
    return { key: digest(text), before: earlier.has(text), after: later.has(text) }
  })
}

/** The texts of the keys of a record, with `EVERY`. */
function keyTexts(record: ExtractedRecord | null): ReadonlySet<string> {
  if (record === null) return new Set()
  const texts = new Set([EVERY])
  for (const [type, values] of record.identifiers) {
    for (const value of values) texts.add(identifierKey(type, value))
  }
  for (const [name, value] of record.values) {
    // An attribute with a list of values is queried as a list whose elements have one member of the same name.
    const [prefix, scalars] = isList(value) ? [`${name}.`, value] : ['', [value]]
    for (const scalar of scalars) addKey(texts, `${prefix}${name}`, scalar)
  }
  for (const [list, found] of record.elements) {
    for (const element of found) {
      for (const [name, scalar] of Object.entries(element)) addKey(texts, `${list}.${name}`, scalar)
    }
  }
  return texts
}

function isList(value: AttributeScalar | readonly AttributeScalar[]): value is readonly AttributeScalar[] {
  return Array.isArray(value)
}

function addKey(texts: Set<string>, name: string, value: AttributeScalar): void {
  const text = valueKey(name, value)
  if (text !== null) texts.add(text)
}

/** @param prefix the name of the list and a dot inside `some`, otherwise '' */
function keysOfPredicate(predicate: Predicate, prefix: string): Filed | null {
  switch (predicate.is) {
    case 'and': {
      const [only, ...others] = predicate.of
      if (only !== undefined && others.length === 0) return keysOfPredicate(only, prefix)
      return mostSelective(predicate.of.map((part) => asPartOfAnd(keysOfPredicate(part, prefix))))
    }
    case 'or':
      return keysOfAlternatives(predicate.of.map((part) => keysOfPredicate(part, prefix)))
    case 'some':
      return keysOfPredicate(predicate.of, `${predicate.list.name}.`)
    case 'compare':
      return predicate.operator === 'eq' ? equalities(predicate, [predicate.value], prefix) : null
    case 'in':
      return equalities(predicate, predicate.values, prefix)
    case 'identifier':
      return {
        selectivity: IDENTIFIER_SELECTIVITY,
        keys: new Map(predicate.identifiers.map(({ type, value }) => [identifierKey(type, value), true])),
      }
    default:
      return null
  }
}

/** The key of one condition does not prove the other conditions of an `and`, so none of its keys is `whole`. */
function asPartOfAnd(filed: Filed | null): Filed | null {
  return filed && { ...filed, keys: new Map([...filed.keys.keys()].map((text) => [text, false])) }
}

/** The most selective part; among equally selective parts, the one with the fewest keys. */
function mostSelective(parts: readonly (Filed | null)[]): Filed | null {
  const filed = parts.filter((part) => part !== null)
  const order = (one: Filed, other: Filed): number =>
    other.selectivity - one.selectivity || one.keys.size - other.keys.size
  return filed.toSorted(order)[0] ?? null
}

/** The keys of all alternatives; null when an alternative has none. */
function keysOfAlternatives(parts: readonly (Filed | null)[]): Filed | null {
  const keys = new Map<string, boolean>()
  let selectivity = IDENTIFIER_SELECTIVITY
  for (const part of parts) {
    if (part === null) return null
    selectivity = Math.min(selectivity, part.selectivity)
    for (const [text, whole] of part.keys) keys.set(text, whole || keys.get(text) === true)
  }
  return { selectivity, keys }
}

function equalities(
  { attribute, until }: Comparison | OneOf,
  literals: readonly Literal[],
  prefix: string,
): Filed | null {
  const selectivity = SELECTIVITY[attribute.type]
  // The answer to a condition with `until` changes from day to day.
  if (selectivity === undefined || until !== undefined) return null
  const keys = new Map<string, boolean>()
  for (const literal of literals) {
    const text = valueKey(`${prefix}${attribute.name}`, literal)
    if (text === null) return null
    keys.set(text, true)
  }
  return { selectivity, keys }
}

/**
 * Null for a period: dates within the period are equal to it as well. A single day or instant is equal only to itself.
 */
function valueKey(name: string, value: AttributeScalar | Literal): string | null {
  if (typeof value !== 'object') return keyText('attribute', name, String(value))
  return value.from === value.to ? keyText('attribute', name, value.from) : null
}

const identifierKey = (type: string, value: string): string => keyText('identifier', type, value)

/** Only the last part, the value, may contain a NUL, so two different keys have different texts. */
const keyText = (...parts: readonly [about: string, name: string, value: string]): string => parts.join('\0')

const digest = (text: string): Uint8Array => (text === EVERY ? EMPTY : sha256(text).subarray(0, KEY_BYTES))
