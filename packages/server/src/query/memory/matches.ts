/** The predicate tree on one record in memory: what `to-sql` asks of a table, with the same answers. */
import type { AttributeScalar, AttributeValue, Element } from '@rollcall/protocol'
import {
  type BearsIdentifier,
  type Comparison,
  isCompound,
  type Literal,
  type OneOf,
  type Predicate,
  type Presence,
  type SomeElement,
} from '../../model/predicate.ts'
import { compareValues, FALSE, TRUE, type Truth, UNKNOWN } from './compare-values.ts'
import type { ExtractedRecord } from './extract-record.ts'

/** The attributes of whatever is asked, a record or one element of a list: the value under a name, if there is one. */
type Read = (name: string) => AttributeValue | undefined

/**
 * Whether the predicate is true of the record; false and unknown are both no match.
 *
 * Throws an Error for a predicate that asks about an age: `atDay` comes first.
 */
export function matches(predicate: Predicate, record: ExtractedRecord): boolean {
  return truthOf(predicate, (name) => record.values.get(name), record) === TRUE
}

/** `read` reads what is asked about, the record or an element of it; only outside of lists is `record` asked. */
function truthOf(predicate: Predicate, read: Read, record: ExtractedRecord): Truth {
  switch (predicate.is) {
    case 'and': {
      let least: Truth = TRUE
      for (const part of predicate.of) {
        const truth = truthOf(part, read, record)
        if (truth === FALSE) return FALSE
        if (truth < least) least = truth
      }
      return least
    }
    case 'or': {
      let greatest: Truth = FALSE
      for (const part of predicate.of) {
        const truth = truthOf(part, read, record)
        if (truth === TRUE) return TRUE
        if (truth > greatest) greatest = truth
      }
      return greatest
    }
    case 'not':
      return -truthOf(predicate.of, read, record) as Truth
    case 'compare':
      return compareValues(predicate.operator, single(predicate, read), predicate.value)
    case 'in':
      return oneOf(single(predicate, read), predicate.values)
    case 'exists':
      return isPresent(predicate, read, record) ? TRUE : FALSE
    case 'some':
      return someElement(predicate, record)
    case 'identifier':
      return bearsOneOf(predicate.identifiers, record)
    case 'identifier_type':
      return predicate.types.some((type) => record.identifiers.has(type)) ? TRUE : FALSE
  }
}

function single({ attribute, until }: Comparison | OneOf, read: Read): AttributeScalar | undefined {
  const value = upTo(until, read(attribute.name))
  if (attribute.type === 'age') throw new Error(`${attribute.name} is asked on no day`)
  if (isList(value)) throw new Error(`${attribute.name} is asked through its elements only`)
  return value
}

/** What `Until` leaves of a date. */
function upTo(until: string | undefined, value: AttributeValue | undefined): AttributeValue | undefined {
  if (until === undefined || typeof value !== 'object' || isList(value)) return value
  if (value.from > until) return undefined
  return value.to > until ? { from: value.from, to: until } : value
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(value: AttributeValue | undefined): value is readonly AttributeScalar[] {
  return Array.isArray(value)
}

function oneOf(value: AttributeScalar | undefined, literals: readonly Literal[]): Truth {
  let greatest: Truth = FALSE
  for (const literal of literals) {
    const truth = compareValues('eq', value, literal)
    if (truth === TRUE) return TRUE
    if (truth > greatest) greatest = truth
  }
  return greatest
}

function isPresent({ attribute, list, until }: Presence, read: Read, record: ExtractedRecord): boolean {
  if (attribute.type === 'age') throw new Error(`${attribute.name} is asked on no day`)
  if (list === undefined || !isCompound(list)) return upTo(until, read(attribute.name)) !== undefined
  const elements = record.elements.get(list.name) ?? []
  return elements.some((element) => memberOf(element, attribute.name) !== undefined)
}

function memberOf(element: Element, name: string): AttributeScalar | undefined {
  return Object.hasOwn(element, name) ? element[name] : undefined
}

function someElement(predicate: SomeElement, record: ExtractedRecord): Truth {
  let counted = false
  let greatest: Truth = FALSE
  for (const read of elementsOf(predicate, record)) {
    counted = true
    const truth = truthOf(predicate.of, read, record)
    if (truth === TRUE) return TRUE
    if (truth > greatest) greatest = truth
  }
  return counted ? greatest : truthOf(predicate.of, () => undefined, record)
}

/** The elements that count, each as what reads its attributes. */
function elementsOf(predicate: SomeElement, record: ExtractedRecord): Read[] {
  const { list } = predicate
  if (!isCompound(list)) {
    const values = record.values.get(list.name)
    return isList(values) ? values.map((value) => () => value) : []
  }
  const names = mentioned(predicate)
  return (record.elements.get(list.name) ?? [])
    .filter((element) => names.some((name) => Object.hasOwn(element, name)))
    .map((element) => (name) => memberOf(element, name))
}

const known = new WeakMap<SomeElement, readonly string[]>()

/** The names of the attributes that a question about an element mentions. */
function mentioned(predicate: SomeElement): readonly string[] {
  let names = known.get(predicate)
  if (names === undefined) {
    names = [...new Set(namesIn(predicate.of))]
    known.set(predicate, names)
  }
  return names
}

function namesIn(predicate: Predicate): readonly string[] {
  switch (predicate.is) {
    case 'and':
    case 'or':
      return predicate.of.flatMap(namesIn)
    case 'not':
      return namesIn(predicate.of)
    case 'compare':
    case 'in':
    case 'exists':
      return [predicate.attribute.name]
    default:
      return []
  }
}

function bearsOneOf(
  identifiers: BearsIdentifier['identifiers'],
  { identifiers: borne }: ExtractedRecord,
): Truth {
  let ofSomeType = false
  for (const { type, value } of identifiers) {
    const values = borne.get(type)
    if (values === undefined) continue
    if (values.has(value)) return TRUE
    ofSomeType = true
  }
  return ofSomeType ? FALSE : UNKNOWN
}
