/**
 * The predicate tree: what every form of a query becomes, and what both evaluators, SQL and memory, mean the same by.
 *
 * It is read in three-valued logic: a comparison with what a record does not have is neither true nor false, `not`
 * leaves it so, and only what is true matches. docs/query-reference.md says it in examples.
 */

import type { Attribute, Compound } from '@rollcall/protocol'
import type { Identifier } from './records.ts'

export type Predicate =
  | AllOf
  | AnyOf
  | Negation
  | Comparison
  | OneOf
  | Presence
  | SomeElement
  | BearsIdentifier
  | BearsIdentifierType

/** True when every one is, false when one is. At least one. */
export interface AllOf {
  readonly is: 'and'
  readonly of: readonly Predicate[]
}

/** True when one is, false when every one is. At least one. */
export interface AnyOf {
  readonly is: 'or'
  readonly of: readonly Predicate[]
}

/** Turns true and false round. */
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
 * Unknown when the attribute has no value. The attribute is a single one of the record, or, inside `SomeElement`, of
 * the element.
 */
export interface Comparison extends Until {
  readonly is: 'compare'
  readonly attribute: Attribute
  readonly operator: Comparator
  readonly value: Literal
}

/**
 * Of a date alone: a day, YYYY-MM-DD, with which the record's period ends at the latest; one that begins after it is
 * missing. A person who is not born yet has no age, and one who was born this year was born by today.
 */
export interface Until {
  readonly until?: string
}

/** Equal to one of the values, as `compare` with eq is; at least one value, none twice. */
export interface OneOf extends Until {
  readonly is: 'in'
  readonly attribute: Attribute
  readonly values: readonly Literal[]
}

/**
 * True or false, never unknown: whether the attribute has a value. With `list`, asked of the record: whether some
 * element of the list has it. Without it, asked of the record or, inside `SomeElement`, of the element.
 */
export interface Presence extends Until {
  readonly is: 'exists'
  readonly attribute: Attribute
  readonly list?: List
}

/**
 * Some element of a list satisfies `of`, which holds and, or, not, compare, in and exists over the list's own
 * attributes and nothing else. Elements that have none of the attributes that `of` mentions do not count. True when
 * `of` is true of one that counts; unknown when it is true of none and unknown of one; else false. Where none counts, it is
 * what `of` is of an element that has nothing: unknown of a comparison, and of `exists` true or false as ever.
 */
export interface SomeElement {
  readonly is: 'some'
  readonly list: List
  readonly of: Predicate
}

/** A compound, or an attribute with `many`: a list whose elements have that one attribute. */
export type List = Compound | Attribute

/** Bears one of the identifiers, as its own or as a part's. Unknown when it bears none of any of their types. */
export interface BearsIdentifier {
  readonly is: 'identifier'
  /** At least one, none twice. */
  readonly identifiers: readonly Identifier[]
}

/** Bears an identifier of one of the types; true or false, never unknown. */
export interface BearsIdentifierType {
  readonly is: 'identifier_type'
  readonly types: readonly string[]
}

/** The value of the query, read as the attribute's type reads a record; dates and datetimes as intervals. */
export type Literal = string | number | boolean | Interval

/**
 * A period, both ends included: days YYYY-MM-DD for a date, ISO UTC instants to the millisecond for a datetime.
 * A record's date is a period too ("1985"), an instant is one without length. With the record's as `r`:
 *
 * | operator | true when | false when |
 * |---|---|---|
 * | eq | r lies within it | the two have no day in common |
 * | lt | r ends before it begins | r does not begin before it begins |
 * | le | r ends before it ends, or with it | r begins after it ends |
 * | gt | r begins after it ends | r does not end after it ends |
 * | ge | r begins with it, or after it begins | r ends before it begins |
 *
 * else unknown: some day of the record's period would say yes and another no.
 */
export interface Interval {
  readonly from: string
  readonly to: string
}

export function isCompound(list: List): list is Compound {
  return 'members' in list
}

/** The attributes that an element of the list has. */
export function membersOf(list: List): readonly Attribute[] {
  return isCompound(list) ? list.members : [list]
}

/** What holds no further parts, except that `some` holds a question about an element. */
export type Leaf = Exclude<Predicate, AllOf | AnyOf | Negation>

/** Every leaf of a tree. */
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

/** The attributes that a question about an element mentions, in order, each once. */
export function mentionedIn(of: Predicate): readonly Attribute[] {
  return [...new Set(leavesOf(of).flatMap((leaf) => ('attribute' in leaf ? [leaf.attribute] : [])))]
}
