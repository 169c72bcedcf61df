/** Evaluates a predicate on one record in memory, with the same result as SQL from `to-sql` has in the database. */

import { type AttributeScalar, type AttributeValue, compareCodePoints, type Element } from '@rollcall/protocol'
import { oncePerObject } from '../../model/once-per.ts'
import {
  attributesMentionedIn,
  type Comparator,
  type Comparison,
  type HasIdentifier,
  type HasValue,
  type Interval,
  isCompound,
  type Literal,
  type OneOf,
  type Predicate,
  type SomeElement,
} from '../../model/predicate.ts'
import type { SearchableValues } from './extract-record.ts'

/** Reads an attribute of a record or of a list's element; undefined when it has no value. */
type ReadAttribute = (name: string) => AttributeValue | undefined

/**
 * True when the predicate is true for the record; false when it is false or unknown.
 * Throws an Error for a predicate about an age: call `replaceAgesByDates` first.
 */
export function matches(predicate: Predicate, record: SearchableValues): boolean {
  return truthOf(predicate, (name) => record.values.get(name), record) === TRUE
}

/**
 * The result of a predicate. `read` reads an attribute of the record or, inside `SomeElement`, of an element. Conditions on lists
 * and identifiers use `record`, which is always the whole record.
 */
function truthOf(predicate: Predicate, read: ReadAttribute, record: SearchableValues): Truth {
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
      return compareValues(predicate.operator, readSingleValue(predicate, read), predicate.value)
    case 'in':
      return truthOfOneOf(readSingleValue(predicate, read), predicate.values)
    case 'exists':
      return hasAttributeValue(predicate, read, record) ? TRUE : FALSE
    case 'some':
      return truthOfSomeElement(predicate, record)
    case 'identifier':
      return truthOfHasIdentifier(predicate.identifiers, record)
    case 'identifier_type':
      return predicate.types.some((type) => record.identifiers.has(type)) ? TRUE : FALSE
  }
}

function readSingleValue({ attribute, until }: Comparison | OneOf, read: ReadAttribute): AttributeScalar | undefined {
  const value = cutDatePeriodAfter(until, read(attribute.name))
  if (attribute.type === 'age') throw new Error(`${attribute.name} is asked on no day`)
  if (isList(value)) throw new Error(`${attribute.name} is asked through its elements only`)
  return value
}

/**
 * Ends the period of a date, such as the year for "1985", at the day `until`; undefined when the period begins later. Other
 * values are returned unchanged.
 */
function cutDatePeriodAfter(until: string | undefined, value: AttributeValue | undefined): AttributeValue | undefined {
  if (until === undefined || typeof value !== 'object' || isList(value)) return value
  if (value.from > until) return undefined
  return value.to > until ? { from: value.from, to: until } : value
}

/** True for a list. `Array.isArray` alone does not narrow the type of readonly arrays. */
function isList(value: AttributeValue | undefined): value is readonly AttributeScalar[] {
  return Array.isArray(value)
}

function truthOfOneOf(value: AttributeScalar | undefined, literals: readonly Literal[]): Truth {
  let greatest: Truth = FALSE
  for (const literal of literals) {
    const truth = compareValues('eq', value, literal)
    if (truth === TRUE) return TRUE
    if (truth > greatest) greatest = truth
  }
  return greatest
}

function hasAttributeValue({ attribute, list, until }: HasValue, read: ReadAttribute, record: SearchableValues): boolean {
  if (attribute.type === 'age') throw new Error(`${attribute.name} is asked on no day`)
  if (list === undefined || !isCompound(list)) return cutDatePeriodAfter(until, read(attribute.name)) !== undefined
  const elements = record.elements.get(list.name) ?? []
  return elements.some((element) => findElementMember(element, attribute.name) !== undefined)
}

function findElementMember(element: Element, name: string): AttributeScalar | undefined {
  return Object.hasOwn(element, name) ? element[name] : undefined
}

function truthOfSomeElement(predicate: SomeElement, record: SearchableValues): Truth {
  let counted = false
  let greatest: Truth = FALSE
  for (const read of elementReaders(predicate, record)) {
    counted = true
    const truth = truthOf(predicate.of, read, record)
    if (truth === TRUE) return TRUE
    if (truth > greatest) greatest = truth
  }
  return counted ? greatest : truthOf(predicate.of, () => undefined, record)
}

/** The elements of a list that have at least one attribute of the condition, each as a function that reads its attributes. */
function elementReaders(predicate: SomeElement, record: SearchableValues): ReadAttribute[] {
  const { list } = predicate
  if (!isCompound(list)) {
    const values = record.values.get(list.name)
    return isList(values) ? values.map((value) => () => value) : []
  }
  const names = mentionedAttributeNames(predicate)
  return (record.elements.get(list.name) ?? [])
    .filter((element) => names.some((name) => Object.hasOwn(element, name)))
    .map((element) => (name) => findElementMember(element, name))
}

/** The names of the attributes in a condition on a list's element, computed once for each condition. */
const mentionedAttributeNames = oncePerObject(({ of }: SomeElement): readonly string[] =>
  attributesMentionedIn(of).map(({ name }) => name),
)

function truthOfHasIdentifier(identifiers: HasIdentifier['identifiers'], { identifiers: own }: SearchableValues): Truth {
  let ofSomeType = false
  for (const { type, value } of identifiers) {
    const values = own.get(type)
    if (values === undefined) continue
    if (values.has(value)) return TRUE
    ofSomeType = true
  }
  return ofSomeType ? FALSE : UNKNOWN
}

/** True, false or unknown as numbers: `and` is the minimum of its parts, `or` the maximum, `not` changes the sign. */
type Truth = typeof FALSE | typeof UNKNOWN | typeof TRUE
const FALSE = -1
export const UNKNOWN = 0
export const TRUE = 1

/** Compares a value of a record (undefined when missing) with a literal. Both must have been read by the attribute's type. */
function compareValues(operator: Comparator, value: AttributeScalar | undefined, literal: Literal): Truth {
  if (value === undefined) return UNKNOWN
  if (typeof literal === 'object') {
    if (typeof value === 'object') return compareIntervals(operator, value.from, value.to, literal)
    // The value of a datetime is a string, its instant. It is compared as a period without length.
    if (typeof value === 'string') return compareIntervals(operator, value, value, literal)
  } else if (operator === 'eq') {
    return value === literal ? TRUE : FALSE
  } else if (typeof value === 'string' && typeof literal === 'string') {
    return isTextComparisonTrue(operator, value, literal) ? TRUE : FALSE
  } else if (typeof value === 'number' && typeof literal === 'number') {
    return isComparisonTrue(operator, value - literal) ? TRUE : FALSE
  }
  throw new Error(`what is compared by ${operator} is of two types`)
}

function isTextComparisonTrue(operator: Comparator, text: string, literal: string): boolean {
  if (operator === 'starts_with') return text.startsWith(literal)
  if (operator === 'contains') return text.includes(literal)
  return isComparisonTrue(operator, compareCodePoints(text, literal))
}

/**
 * True when a comparison holds. `difference` is negative when the record's value is less than the literal, positive
 * when it is greater.
 */
function isComparisonTrue(operator: Comparator, difference: number): boolean {
  switch (operator) {
    case 'lt':
      return difference < 0
    case 'le':
      return difference <= 0
    case 'gt':
      return difference > 0
    case 'ge':
      return difference >= 0
    default:
      throw new Error(`${operator} asks for no order`)
  }
}

/** Compares the period `from`–`to` with the literal; `Interval` has the rules. Texts of days and instants sort by time. */
function compareIntervals(operator: Comparator, from: string, to: string, literal: Interval): Truth {
  switch (operator) {
    case 'eq':
      return truthOrUnknown(from >= literal.from && to <= literal.to, to < literal.from || from > literal.to)
    case 'lt':
      return truthOrUnknown(to < literal.from, from >= literal.from)
    case 'le':
      return truthOrUnknown(to <= literal.to, from > literal.to)
    case 'gt':
      return truthOrUnknown(from > literal.to, to <= literal.to)
    case 'ge':
      return truthOrUnknown(from >= literal.from, to < literal.from)
    default:
      throw new Error(`${operator} does not compare periods`)
  }
}

function truthOrUnknown(yes: boolean, no: boolean): Truth {
  if (yes) return TRUE
  return no ? FALSE : UNKNOWN
}
