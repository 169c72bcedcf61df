/**
 * Makes keys for the filters of subscriptions and for changed records. If a filter is true of a record, both have at least one
 * key in common; so only subscriptions with a key of the changed record need to be looked at. A filter has the keys of its most
 * selective part; a record has the keys of all its values.
 */
import type { AttributeScalar, AttributeType } from '@rollcall/protocol'
import { sha256 } from '../model/digests.ts'
import type { Comparison, Literal, OneOf, Predicate } from '../model/predicate.ts'
import type { RecordValues } from '../query/memory/extract-record.ts'

/** A key of a filter. A record with the same key may satisfy the filter. */
export interface FilterKey {
  readonly key: Uint8Array
  /** True when every record with this key satisfies the whole filter, so that the filter need not be evaluated. */
  readonly whole: boolean
}

/** The key text that every record has, for filters without a usable condition. The key made from this text has no bytes. */
const EVERY_RECORD_KEY_TEXT = ''
const EMPTY_KEY = new Uint8Array(0)

/** The length of a key in bytes: long enough that different texts do not give the same key. */
const MATCHING_KEY_BYTES = 16

/**
 * How selective an equality is, by attribute type: a higher number finds fewer records. A condition on an attribute of a type
 * that is not listed here gives no keys.
 */
const SELECTIVITY_BY_TYPE: Readonly<Partial<Record<AttributeType, number>>> = {
  text: 4,
  number: 3,
  date: 3,
  datetime: 3,
  code: 2,
  boolean: 1,
}
const IDENTIFIER_SELECTIVITY = 5

/** The keys of a filter or of a part of it. A record that satisfies the filter or part has at least one of these keys. */
interface FilterKeys {
  /** The selectivity of the least selective key. */
  readonly selectivity: number
  /** For the text of each key: true when every record with the key satisfies the whole filter (`FilterKey.whole`). */
  readonly keys: ReadonlyMap<string, boolean>
}

/** The keys of a filter. @param predicate the filter, in which conditions on ages are not dates yet; null: there is no filter */
export function keysOfFilter(predicate: Predicate | null): readonly FilterKey[] {
  if (predicate === null) return [{ key: matchingKeyDigest(EVERY_RECORD_KEY_TEXT), whole: true }]
  const filed = keysOfPredicate(predicate, '')
  if (filed === null) return [{ key: matchingKeyDigest(EVERY_RECORD_KEY_TEXT), whole: false }]
  return [...filed.keys].map(([text, whole]) => ({ key: matchingKeyDigest(text), whole }))
}

/** A key of a changed record, and whether the record has it before and after the change. */
export interface ChangeKey {
  readonly key: Uint8Array
  readonly before: boolean
  readonly after: boolean
}

/** All keys of a record before and after a change, each once. Null means that there was no record. */
export function keysOfChange(before: RecordValues | null, after: RecordValues | null): readonly ChangeKey[] {
  const [earlier, later] = [recordKeyTexts(before), recordKeyTexts(after)]
  return [...new Set([...earlier, ...later])].map((text) => {
    return { key: matchingKeyDigest(text), before: earlier.has(text), after: later.has(text) }
  })
}

/** The key texts of a record, `EVERY_RECORD_KEY_TEXT` included. */
function recordKeyTexts(record: RecordValues | null): ReadonlySet<string> {
  if (record === null) return new Set()
  const texts = new Set([EVERY_RECORD_KEY_TEXT])
  for (const [type, values] of record.identifiers) {
    for (const value of values) texts.add(matchingKeyText('identifier', type, value))
  }
  for (const [name, value] of record.values) {
    // A value of a list has the key name `name.name`, as if it were an element of the list `name` with the one member `name`.
    const [prefix, scalars] = isList(value) ? [`${name}.`, value] : ['', [value]]
    for (const scalar of scalars) addKeyText(texts, `${prefix}${name}`, scalar)
  }
  for (const [list, found] of record.elements) {
    for (const element of found) {
      for (const [name, scalar] of Object.entries(element)) addKeyText(texts, `${list}.${name}`, scalar)
    }
  }
  return texts
}

function isList(value: AttributeScalar | readonly AttributeScalar[]): value is readonly AttributeScalar[] {
  return Array.isArray(value)
}

function addKeyText(texts: Set<string>, name: string, value: AttributeScalar): void {
  const text = findValueKeyText(name, value)
  if (text !== null) texts.add(text)
}

/**
 * The keys of a predicate; null when no keys can be made: a record may then satisfy the predicate without a key in common.
 * @param prefix ''; inside a predicate `some`, the name of its list and a dot
 */
function keysOfPredicate(predicate: Predicate, prefix: string): FilterKeys | null {
  switch (predicate.is) {
    case 'and': {
      const [only, ...others] = predicate.of
      if (only !== undefined && others.length === 0) return keysOfPredicate(only, prefix)
      return findMostSelectiveKeys(predicate.of.map((part) => markKeysAsPartOfFilter(keysOfPredicate(part, prefix))))
    }
    case 'or':
      return keysOfAlternatives(predicate.of.map((part) => keysOfPredicate(part, prefix)))
    case 'some':
      return keysOfPredicate(predicate.of, `${predicate.list.name}.`)
    case 'compare':
      return predicate.operator === 'eq' ? keysOfEqualityCondition(predicate, [predicate.value], prefix) : null
    case 'in':
      return keysOfEqualityCondition(predicate, predicate.values, prefix)
    case 'identifier':
      return {
        selectivity: IDENTIFIER_SELECTIVITY,
        keys: new Map(predicate.identifiers.map(({ type, value }) => [matchingKeyText('identifier', type, value), true])),
      }
    default:
      return null
  }
}

/** Marks all keys as not `whole`: the key of one condition does not decide the other conditions of an `and`. */
function markKeysAsPartOfFilter(filed: FilterKeys | null): FilterKeys | null {
  return filed && { ...filed, keys: new Map([...filed.keys.keys()].map((text) => [text, false])) }
}

/** The part of an `and` that matches the fewest records; of equally selective parts, the one with the fewest keys. */
function findMostSelectiveKeys(parts: readonly (FilterKeys | null)[]): FilterKeys | null {
  const filed = parts.filter((part) => part !== null)
  const order = (one: FilterKeys, other: FilterKeys): number =>
    other.selectivity - one.selectivity || one.keys.size - other.keys.size
  return filed.toSorted(order)[0] ?? null
}

/** The keys of all alternatives of an `or`; null when one alternative has no keys. */
function keysOfAlternatives(parts: readonly (FilterKeys | null)[]): FilterKeys | null {
  const wholeByText = new Map<string, boolean>()
  let selectivity = IDENTIFIER_SELECTIVITY
  for (const part of parts) {
    if (part === null) return null
    selectivity = Math.min(selectivity, part.selectivity)
    for (const [text, whole] of part.keys) wholeByText.set(text, whole || wholeByText.get(text) === true)
  }
  return { selectivity, keys: wholeByText }
}

function keysOfEqualityCondition(
  { attribute, until }: Comparison | OneOf,
  literals: readonly Literal[],
  prefix: string,
): FilterKeys | null {
  const selectivity = SELECTIVITY_BY_TYPE[attribute.type]
  // A condition with `until` looks only at dates up to this day, so its result may change from day to day: it gives no keys.
  if (selectivity === undefined || until !== undefined) return null
  const keys = new Map<string, boolean>()
  for (const literal of literals) {
    const text = findValueKeyText(`${prefix}${attribute.name}`, literal)
    if (text === null) return null
    keys.set(text, true)
  }
  return { selectivity, keys }
}

/** The key text of a value; null for a period, because dates inside the period are equal to it as well. */
function findValueKeyText(name: string, value: AttributeScalar | Literal): string | null {
  if (typeof value !== 'object') return matchingKeyText('attribute', name, String(value))
  return value.from === value.to ? matchingKeyText('attribute', name, value.from) : null
}

/** The text of a key. Only `value` may contain NUL, and it is last, so different keys always have different texts. */
const matchingKeyText = (...parts: readonly [about: string, name: string, value: string]): string => parts.join('\0')

const matchingKeyDigest = (text: string): Uint8Array =>
  text === EVERY_RECORD_KEY_TEXT ? EMPTY_KEY : sha256(text).subarray(0, MATCHING_KEY_BYTES)
