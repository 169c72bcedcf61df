/**
 * The keys under which a subscription is filed, and those that a record bears: a filter that is true of a record has a
 * key in common with it. A key is an equality, as selective a one as the filter has.
 */
import type { AttributeScalar, AttributeType } from '@rollcall/protocol'
import { sha256 } from '../model/digests.ts'
import type { Comparison, Literal, OneOf, Predicate } from '../model/predicate.ts'
import type { ExtractedRecord } from '../query/memory/extract-record.ts'

export interface FilingKey {
  readonly key: Uint8Array
  /** Whoever bears the key fulfils the filter: nothing else of it is to be evaluated. */
  readonly whole: boolean
}

/** The text of the key that every record has, for filters that have no equality to be filed under. The key is empty. */
const EVERY = ''
const EMPTY = new Uint8Array(0)

/** Bytes of a key's digest: no two of the keys of a registry are the same by chance. */
const KEY_BYTES = 16

/** How few records an equality is expected to leave, by what it is about; other types have no key. */
const SELECTIVITY: Readonly<Partial<Record<AttributeType, number>>> = {
  text: 4,
  number: 3,
  date: 3,
  datetime: 3,
  code: 2,
  boolean: 1,
}
const IDENTIFIER_SELECTIVITY = 5

/** Alternatives: whoever fulfils the filter bears one of the keys. */
interface Filed {
  /** Of the least selective of the keys. */
  readonly selectivity: number
  /** By their texts; the value says whether the key is `whole`. */
  readonly keys: ReadonlyMap<string, boolean>
}

/** @param predicate as a filter was read, before `atDay`; null: there is no filter */
export function filingKeys(predicate: Predicate | null): readonly FilingKey[] {
  if (predicate === null) return [{ key: digest(EVERY), whole: true }]
  const filed = file(predicate, '')
  if (filed === null) return [{ key: digest(EVERY), whole: false }]
  return [...filed.keys].map(([text, whole]) => ({ key: digest(text), whole }))
}

/** A key that a record has before a change, after it, or both. */
export interface ChangeKey {
  readonly key: Uint8Array
  readonly before: boolean
  readonly after: boolean
}

/** The keys of a record before a change and after it, each once; null: there is no record. */
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
  for (const [type, borne] of record.identifiers) {
    for (const value of borne) texts.add(identifierKey(type, value))
  }
  for (const [name, value] of record.values) {
    // Elements of a list of values are asked about as those of a list with one member.
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

/** @param prefix of the names of attributes: that of the list whose elements are asked about, or '' */
function file(predicate: Predicate, prefix: string): Filed | null {
  switch (predicate.is) {
    case 'and': {
      const [only, ...others] = predicate.of
      if (only !== undefined && others.length === 0) return file(only, prefix)
      return best(predicate.of.map((part) => remaining(file(part, prefix))))
    }
    case 'or':
      return together(predicate.of.map((part) => file(part, prefix)))
    case 'some':
      return file(predicate.of, `${predicate.list.name}.`)
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

/** Where one of several conditions is the key, the others remain to be evaluated. */
function remaining(filed: Filed | null): Filed | null {
  return filed && { ...filed, keys: new Map([...filed.keys.keys()].map((text) => [text, false])) }
}

/** The most selective; of equally selective ones that with the fewest keys. */
function best(parts: readonly (Filed | null)[]): Filed | null {
  const filed = parts.filter((part) => part !== null)
  const order = (one: Filed, other: Filed): number =>
    other.selectivity - one.selectivity || one.keys.size - other.keys.size
  return filed.toSorted(order)[0] ?? null
}

/** All keys of all alternatives; null where one of them has none. */
function together(parts: readonly (Filed | null)[]): Filed | null {
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
  // What is asked of a date up to a day changes with the day.
  if (selectivity === undefined || until !== undefined) return null
  const keys = new Map<string, boolean>()
  for (const literal of literals) {
    const text = valueKey(`${prefix}${attribute.name}`, literal)
    if (text === null) return null
    keys.set(text, true)
  }
  return { selectivity, keys }
}

/** Null of a period: equal to one is also what lies within it. A single day or instant holds nothing but itself. */
function valueKey(name: string, value: AttributeScalar | Literal): string | null {
  if (typeof value !== 'object') return keyText('attribute', name, String(value))
  return value.from === value.to ? keyText('attribute', name, value.from) : null
}

const identifierKey = (type: string, value: string): string => keyText('identifier', type, value)

/** No part but the last, which is the value, has a NUL: the parts cannot be confused. */
const keyText = (...parts: readonly [about: string, name: string, value: string]): string => parts.join('\0')

const digest = (text: string): Uint8Array => (text === EVERY ? EMPTY : sha256(text).subarray(0, KEY_BYTES))
