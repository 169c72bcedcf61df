/** Combines conditions into one predicate, and decides which of them are about the same element of a list. */
import type { Searchable } from '@rollcall/protocol'
import type { ElementList, Predicate } from '../../model/predicate.ts'
import { QueryProblem } from '../query.ts'

/** A predicate about one element of `list`; about the record itself when `list` is undefined. */
export interface Condition {
  readonly list: ElementList | undefined
  readonly of: Predicate
}

/** A condition before it is read. It is read later, because another condition may state the type of its identifier value. */
export interface UnreadCondition {
  readonly path: string
  /** The attribute or identifiers of the condition; undefined when it has none, such as `$or` or the object of a compound. */
  readonly about: Searchable | undefined
  /**
   * Reads the condition.
   * @param narrowed `about` with only the types that another condition gives; undefined when none gives a type
   * @param said the types for identifier values that are deeper inside the condition, such as in the objects of `$or`
   */
  readonly read: (narrowed?: SearchableIdentifiers, said?: StatedIdentifierTypes) => Condition
}

/** The identifier types that an object states for values without a type, and the path of that statement. */
export interface StatedIdentifierTypes {
  readonly names: readonly string[]
  readonly path: string
}

/** One predicate that is true when all of these are; nested `and`s become part of it. Give at least one. */
export function joinByAnd(predicates: readonly Predicate[]): Predicate {
  const hasNested = predicates.some(({ is }) => is === 'and')
  const of = hasNested ? predicates.flatMap((one) => (one.is === 'and' ? one.of : [one])) : predicates
  const [only] = of
  return only !== undefined && of.length === 1 ? only : { is: 'and', of }
}

export function joinByOr(predicates: readonly Predicate[]): Predicate {
  const [only] = predicates
  return only !== undefined && predicates.length === 1 ? only : { is: 'or', of: predicates }
}

export function negate(of: Predicate): Predicate {
  return { is: 'not', of }
}

/**
 * Reads the conditions of one object. A condition on the identifier type gives its type to the identifier values in the same
 * object, and in objects inside it, such as those of `$or`.
 * @param isTyped true for a name of identifiers (`about`) to which the condition on the identifier type applies
 * @param around the types that an outer object states; they apply when this object states none
 */
export function readConditionsOfObject(
  asked: readonly UnreadCondition[],
  isTyped = hasSeveralIdentifierTypes,
  around?: StatedIdentifierTypes,
): readonly Condition[] {
  const [type, second] = asked.filter(({ about }) => about?.is === 'identifier_type')
  if (type === undefined) return asked.map((one) => readWithStatedTypes(one, hasSeveralIdentifierTypes, around))
  if (!asked.some(({ about }) => isTyped(about))) return readTypeWithoutValue(type, asked, around)
  if (second !== undefined) throw new QueryProblem(second.path, 'must be given once beside an identifier value')
  const said = typesStatedBy(type.read(), type.path)
  if (said === undefined) {
    throw new QueryProblem(type.path, 'must be asked for with $eq or $in beside an identifier value')
  }
  return asked.filter((one) => one !== type).map((one) => readWithStatedTypes(one, isTyped, said))
}

/**
 * Reads an object that has an identifier type but no identifier value. The type stays a condition of its own. Identifier values
 * in objects inside it, such as those of `$or`, take the type too.
 */
function readTypeWithoutValue(
  type: UnreadCondition,
  asked: readonly UnreadCondition[],
  around: StatedIdentifierTypes | undefined,
): readonly Condition[] {
  const own = type.read()
  const said = typesStatedBy(own, type.path) ?? around
  return asked.map((one) => (one === type ? own : one.read(undefined, said)))
}

function readWithStatedTypes(
  { about, read }: UnreadCondition,
  isTyped: (about: Searchable | undefined) => about is SearchableIdentifiers,
  said: StatedIdentifierTypes | undefined,
): Condition {
  if (said === undefined || !isTyped(about)) return read(undefined, said)
  const types = about.types.filter(({ name }) => said.names.includes(name))
  if (types.length > 0) return read({ ...about, types }, said)
  throw new QueryProblem(said.path, `must be one of ${about.types.map(({ name }) => name).join(', ')}`)
}

export type SearchableIdentifiers = Extract<Searchable, { is: 'identifier' }>

export function isAboutIdentifiers(about: Searchable | undefined): about is SearchableIdentifiers {
  return about?.is === 'identifier'
}

/** True when a name in a query means identifiers of several types, as `identifier_value` does, but not `UIN`. */
function hasSeveralIdentifierTypes(about: Searchable | undefined): about is SearchableIdentifiers {
  return isAboutIdentifiers(about) && about.types.length > 1
}

function typesStatedBy({ of }: Condition, path: string): StatedIdentifierTypes | undefined {
  return of.is === 'identifier_type' ? { names: of.types, path } : undefined
}

/** The predicate on a record from an object's conditions. Conditions on one list must hold for the same element. */
export function predicateOnRecord(conditions: readonly Condition[]): Predicate {
  if (conditions.every(({ list }) => list === undefined)) return predicateOnElement(conditions)
  const byList = Map.groupBy(conditions, ({ list }) => list)
  return joinByAnd(
    [...byList].flatMap(([list, together]) => {
      const of = together.map((condition) => condition.of)
      return list === undefined ? of : [someElementPredicate(list, joinByAnd(of))]
    }),
  )
}

/** Makes one predicate about an element of a list from the conditions of one object, which must all hold. */
export function predicateOnElement(conditions: readonly Condition[]): Predicate {
  return joinByAnd(conditions.map(({ of }) => of))
}

/**
 * Turns a predicate on an element into one on the record: some element satisfies it. A `not` becomes: no element satisfies the
 * predicate inside. An `or` becomes an `or` on the record: different elements may satisfy its parts.
 */
function someElementPredicate(list: ElementList, of: Predicate): Predicate {
  if (of.is === 'not') return negate(someElementPredicate(list, of.of))
  if (of.is === 'or') return joinByOr(of.of.map((part) => someElementPredicate(list, part)))
  return of.is === 'exists' ? { ...of, list } : { is: 'some', list, of }
}
