/**
 * The predicate: the tree of conditions that every form of a query becomes. The evaluators in SQL and in memory must
 * agree on it. Results are true, false or unknown: a comparison with a missing value is unknown, `not` leaves unknown
 * as it is, and a record matches only when the result is true. docs/query-reference.md explains it with examples.
 */

import type { Attribute, Compound } from '@rollcall/protocol'
import type { Identifier } from './records.ts'

export type Predicate = AllOf | AnyOf | Negation | Comparison | OneOf | HasValue | SomeElement | HasIdentifier | HasIdentifierType

/** True when all parts are true, false when one is false. At least one part. */
export interface AllOf {
  readonly is: 'and'
  readonly of: readonly Predicate[]
}

/** True when one part is true, false when all are false. At least one part. */
export interface AnyOf {
  readonly is: 'or'
  readonly of: readonly Predicate[]
}

/** Turns true into false, and false into true; unknown stays unknown. */
export interface Negation {
  readonly is: 'not'
  readonly of: Predicate
}

/**
 * - text, as `readAttribute` reads it: eq, starts_with, contains; lt le gt ge by code point
 * - code and boolean: eq
 * - number: eq lt le gt ge
 * - age: eq lt le gt ge with a whole number of years
 * - date and datetime: eq lt le gt ge with an interval, see `Interval`
 */
export type Comparator = 'eq' | 'lt' | 'le' | 'gt' | 'ge' | 'starts_with' | 'contains'

/**
 * A comparison of one attribute with a value; unknown when the attribute has no value. The attribute belongs to the record, or,
 * inside `SomeElement`, to the element.
 */
export interface Comparison extends ConditionWithLastDay {
  readonly is: 'compare'
  readonly attribute: Attribute
  readonly operator: Comparator
  readonly value: Literal
}

/**
 * For dates only: the last day, YYYY-MM-DD, that the condition looks at. A date of the record that begins after this day counts
 * as missing, so a person who is not born yet has no age. A period, such as "1985", ends on this day at the latest.
 */
export interface ConditionWithLastDay {
  readonly until?: string
}

/** True when the attribute is equal (as with `eq`) to one of the values. At least one value, none twice. */
export interface OneOf extends ConditionWithLastDay {
  readonly is: 'in'
  readonly attribute: Attribute
  readonly values: readonly Literal[]
}

/**
 * True when the attribute has a value, otherwise false; never unknown. With `list`, the attribute must have a value in an element
 * of this list of the record. Without `list`, it must have a value in the record; inside `SomeElement`, in the element.
 */
export interface HasValue extends ConditionWithLastDay {
  readonly is: 'exists'
  readonly attribute: Attribute
  readonly list?: ElementList
}

/**
 * Some element of a list satisfies `of`, which consists of and, or, not, compare, in and exists over attributes of the list.
 * True when `of` is true for an element; unknown when it is true for none and unknown for one; otherwise false. An element that
 * has none of the attributes in `of` is ignored. If no element is left, the result is that of `of` for an element without values:
 * a comparison is then unknown, and `exists` is false.
 */
export interface SomeElement {
  readonly is: 'some'
  readonly list: ElementList
  readonly of: Predicate
}

/** A list of elements: a compound, or an attribute with `many`, whose elements have only this attribute. */
export type ElementList = Compound | Attribute

/**
 * One of the identifiers is an identifier of the record, or of a part of the record, such as a person of a household. Unknown
 * when the record has no identifier of a type that this condition names.
 */
export interface HasIdentifier {
  readonly is: 'identifier'
  /** At least one identifier, none twice. */
  readonly identifiers: readonly Identifier[]
}

/** True when the record has an identifier of one of the types; otherwise false, never unknown. */
export interface HasIdentifierType {
  readonly is: 'identifier_type'
  readonly types: readonly string[]
}

/** A value in a query, read by the same rules as values of records. Dates and datetimes are intervals. */
export type Literal = string | number | boolean | Interval

/**
 * A period, both ends included: days YYYY-MM-DD for a date, ISO UTC instants to the millisecond for a datetime. The date of a
 * record is a period too ("1985"); an instant is a period without length. The period r of a record is compared with the period p
 * of a query:
 * - eq: true when r lies within p; false when r and p have no day in common
 * - lt: true when r ends before p begins; false when r does not begin before p begins
 * - le: true when r does not end after p ends; false when r begins after p ends
 * - gt: true when r begins after p ends; false when r does not end after p ends
 * - ge: true when r does not begin before p begins; false when r ends before p begins
 *
 * In all other cases the result is unknown: the comparison is true for some days of r, and false for others.
 */
export interface Interval {
  readonly from: string
  readonly to: string
}

export function isCompound(list: ElementList): list is Compound {
  return 'members' in list
}

/** The attributes of one element of the list: a compound's members, or the list attribute itself. */
export function elementAttributes(list: ElementList): readonly Attribute[] {
  return isCompound(list) ? list.members : [list]
}

/** A condition other than and, or, not. In a `some`, the conditions are about an element of a list, so the `some` is one leaf. */
export type Leaf = Exclude<Predicate, AllOf | AnyOf | Negation>

/** Every condition in a tree except and, or, not. */
export function leavesOf(predicate: Predicate): readonly Leaf[] {
  switch (predicate.is) {
    case 'not':
      return leavesOf(predicate.of)
    case 'and':
    case 'or':
      return predicate.of.flatMap(leavesOf)
    default:
      return [predicate]
  }
}

/** The attributes that a predicate about an element of a list names, each once. */
export function attributesMentionedIn(of: Predicate): readonly Attribute[] {
  return [...new Set(leavesOf(of).flatMap((leaf) => ('attribute' in leaf ? [leaf.attribute] : [])))]
}
