/** How conditions become one predicate, and which of them are asked of one and the same element of a list. */
import type { Searchable } from '@rollcall/protocol'
import type { List, Predicate } from '../predicate.ts'
import { QueryProblem } from '../problem.ts'

/** A condition on an element of a list or, without one, on the record. */
export interface Condition {
  readonly list: List | undefined
  readonly of: Predicate
}

/** A condition that is not read yet: which types an identifier value may have is said beside it. */
export interface Asked {
  readonly path: string
  /** Undefined for what is no single attribute, such as `$or` or a compound's object. */
  readonly about: Searchable | undefined
  /** @param narrowed an identifier's value, when what stands beside it leaves it fewer types */
  readonly read: (narrowed?: Identifiers) => Condition
}

export function allOf(predicates: readonly Predicate[]): Predicate {
  const of = predicates.flatMap((predicate) => (predicate.is === 'and' ? predicate.of : [predicate]))
  const [only] = of
  return only !== undefined && of.length === 1 ? only : { is: 'and', of }
}

export function anyOf(predicates: readonly Predicate[]): Predicate {
  const [only] = predicates
  return only !== undefined && predicates.length === 1 ? only : { is: 'or', of: predicates }
}

export function negation(of: Predicate): Predicate {
  return { is: 'not', of }
}

/**
 * Reads the conditions of one object; a type of identifier that is asked for there is the type of the values.
 * @param isTyped which identifiers have the type that stands beside them
 */
export function readAsked(asked: readonly Asked[], isTyped = isOfSeveralTypes): readonly Condition[] {
  const [type, second] = asked.filter(({ about }) => about?.is === 'identifier_type')
  if (type === undefined || !asked.some(({ about }) => isTyped(about))) return asked.map(({ read }) => read())
  if (second !== undefined)
    throw new QueryProblem(second.path, 'must be given once beside an identifier value')
  const names = typesOf(type)
  return asked
    .filter((one) => one !== type)
    .map(({ about, read }) => {
      if (!isTyped(about)) return read()
      const types = about.types.filter(({ name }) => names.includes(name))
      if (types.length > 0) return read({ ...about, types })
      throw new QueryProblem(type.path, `must be one of ${about.types.map(({ name }) => name).join(', ')}`)
    })
}

export type Identifiers = Extract<Searchable, { is: 'identifier' }>

export function isIdentifiers(about: Searchable | undefined): about is Identifiers {
  return about?.is === 'identifier'
}

/** `identifier_value` asks for any type; `UIN` names its own and takes no other from beside it. */
function isOfSeveralTypes(about: Searchable | undefined): about is Identifiers {
  return isIdentifiers(about) && about.types.length > 1
}

function typesOf({ path, read }: Asked): readonly string[] {
  const { of } = read()
  if (of.is === 'identifier_type') return of.types
  throw new QueryProblem(path, 'must be asked for with $eq or $in beside an identifier value')
}

/** The conditions of one object, asked of a record: those on one list are asked of one and the same element. */
export function inRecord(conditions: readonly Condition[]): Predicate {
  const byList = Map.groupBy(conditions, ({ list }) => list)
  return allOf(
    [...byList].flatMap(([list, together]) => {
      const of = together.map((condition) => condition.of)
      return list === undefined ? of : [ofSomeElement(list, allOf(of))]
    }),
  )
}

/** The conditions of one object, asked of an element. */
export function inElement(conditions: readonly Condition[]): Predicate {
  return allOf(conditions.map(({ of }) => of))
}

/**
 * A question about an element becomes one about the record: some element satisfies it. A negation that stands
 * alone says that none does, and an alternative asks for an element each.
 */
function ofSomeElement(list: List, of: Predicate): Predicate {
  if (of.is === 'not') return negation(ofSomeElement(list, of.of))
  if (of.is === 'or') return anyOf(of.of.map((part) => ofSomeElement(list, part)))
  return of.is === 'exists' ? { ...of, list } : { is: 'some', list, of }
}
