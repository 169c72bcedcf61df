/** Random predicate trees over any record type: every leaf, every operator that a type of attribute knows. */

import {
  type Comparator,
  type ElementList,
  elementAttributes,
  type Literal,
  type Predicate,
} from '@rollcall/core/model/predicate'
import type { Identifier } from '@rollcall/core/model/records'
import { type Attribute, type AttributeType, identifierValue, type Kind, type RecordType, readLiteral } from '@rollcall/protocol'
import fc from 'fast-check'
import { askedValues, rawIdentifiers } from './raw-values.ts'

const ORDER: readonly Comparator[] = ['eq', 'lt', 'le', 'gt', 'ge']
const OPERATORS: Readonly<Record<AttributeType, readonly Comparator[]>> = {
  text: [...ORDER, 'starts_with', 'contains'],
  code: ['eq'],
  boolean: ['eq'],
  number: ORDER,
  age: ORDER,
  date: ORDER,
  datetime: ORDER,
}

/** Weights of attributes by type: the types with most pitfalls are asked about most often. */
const WEIGHTS: Readonly<Record<AttributeType, number>> = { text: 2, code: 1, boolean: 1, number: 1, age: 4, date: 4, datetime: 2 }

/** Predicates as the readers of queries make them, before `replaceAgesByDates`. */
export function predicates(kind: Kind, recordType: RecordType): fc.Arbitrary<Predicate> {
  const single = recordType.attributes.filter(({ many }) => many !== true)
  const lists: ElementList[] = [...recordType.attributes.filter(({ many }) => many === true), ...(recordType.compounds ?? [])]
  const kinds = [
    { weight: 6, arbitrary: ofSome(single) },
    { weight: 2, arbitrary: fc.oneof(identifiers(kind), identifierTypes(kind)) },
  ]
  if (lists.length > 0) kinds.push({ weight: 5, arbitrary: fc.oneof(...lists.map(ofList)) })
  return trees(fc.oneof(...kinds), 4)
}

function trees(leaf: fc.Arbitrary<Predicate>, depth: number): fc.Arbitrary<Predicate> {
  if (depth === 0) return leaf
  const part = trees(leaf, depth - 1)
  const parts = fc.array(part, { minLength: 1, maxLength: 3 })
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: leaf },
    { weight: 2, arbitrary: parts.map((of): Predicate => ({ is: 'and', of })) },
    { weight: 2, arbitrary: parts.map((of): Predicate => ({ is: 'or', of })) },
    { weight: 1, arbitrary: part.map((of): Predicate => ({ is: 'not', of })) },
  )
}

function ofSome(attributes: readonly Attribute[]): fc.Arbitrary<Predicate> {
  return fc.oneof(...attributes.map((attribute) => ({ weight: WEIGHTS[attribute.type], arbitrary: ofAttribute(attribute) })))
}

function ofAttribute(attribute: Attribute): fc.Arbitrary<Predicate> {
  const literals = distinct(askedValues(attribute).flatMap((raw) => readLiteral(attribute, raw) ?? []))
  const literal = fc.constantFrom(...literals)
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(fc.constantFrom(...OPERATORS[attribute.type]), literal)
        .map(([operator, value]): Predicate => ({ is: 'compare', attribute, operator, value })),
    },
    { weight: 2, arbitrary: several(literals, 5).map((values): Predicate => ({ is: 'in', attribute, values })) },
    { weight: 1, arbitrary: fc.constant<Predicate>({ is: 'exists', attribute }) },
  )
}

function ofList(list: ElementList): fc.Arbitrary<Predicate> {
  const members = elementAttributes(list)
  const of = trees(ofSome(members), 2)
  return fc.oneof(
    { weight: 5, arbitrary: of.map((of): Predicate => ({ is: 'some', list, of })) },
    { weight: 1, arbitrary: fc.constantFrom(...members).map((attribute): Predicate => ({ is: 'exists', attribute, list })) },
  )
}

function identifiers(kind: Kind): fc.Arbitrary<Predicate> {
  const pools = kind.identifier_types.map((type) => [type, [...rawIdentifiers(type), 'OWN-7']] as const)
  const all = pools.flatMap(([type, raws]) =>
    raws.flatMap((raw) => {
      const value = identifierValue(type, raw)
      return value === null ? [] : { type: type.name, value }
    }),
  )
  return several(distinct(all), 4).map((identifiers): Predicate => ({ is: 'identifier', identifiers }))
}

function identifierTypes(kind: Kind): fc.Arbitrary<Predicate> {
  const names = kind.identifier_types.map(({ name }) => name)
  return several(names, 3).map((types): Predicate => ({ is: 'identifier_type', types }))
}

function several<Value>(values: Value[], most: number): fc.Arbitrary<Value[]> {
  return fc.subarray(values, { minLength: 1, maxLength: Math.min(most, values.length) })
}

function distinct<Value extends Literal | Identifier>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}
