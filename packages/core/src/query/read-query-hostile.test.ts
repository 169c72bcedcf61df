/** Whatever is asked, a query is read or refused, in time that its bounds bound, and nothing of it is passed over. */
import type { JsonObject, JsonValue } from '@rollcall/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hostileQuery, objectOf } from '../../test/hostile-queries.ts'
import { processorTime } from '../../test/processor-time.ts'
import { LIMITS, SCOPE } from '../../test/query-kind.ts'
import type { Predicate } from '../model/predicate.ts'
import { QueryProblem } from './query.ts'
import { readQuery } from './read-query.ts'

function readOrRefuse(query: unknown, query_type = 'expression') {
  try {
    return readQuery(SCOPE, query_type, query, 'query')
  } catch (error) {
    if (error instanceof QueryProblem) return error
    throw error
  }
}

/** A tree that both evaluators may be given: no empty `and`, `or`, `in`; elements are asked about their own alone. */
function check(predicate: Predicate, list?: Extract<Predicate, { is: 'some' }>['list']): number {
  switch (predicate.is) {
    case 'and':
    case 'or':
      expect(predicate.of.length).toBeGreaterThan(0)
      return predicate.of.reduce((terms, part) => terms + check(part, list), 0)
    case 'not':
      return check(predicate.of, list)
    case 'some':
      expect(list).toBeUndefined()
      return check(predicate.of, predicate.list)
    case 'in':
      expect(predicate.values.length).toBeGreaterThan(0)
      expect(new Set(predicate.values.map((value) => JSON.stringify(value))).size).toBe(predicate.values.length)
      return checkAttribute(predicate, list)
    case 'compare':
      return checkAttribute(predicate, list)
    case 'exists':
      return predicate.list === undefined ? checkAttribute(predicate, list) : 1
    case 'identifier':
      expect(list).toBeUndefined()
      expect(predicate.identifiers.length).toBeGreaterThan(0)
      return 1
    case 'identifier_type':
      expect(list).toBeUndefined()
      expect(predicate.types.length).toBeGreaterThan(0)
      return 1
  }
}

function checkAttribute({ attribute }: Extract<Predicate, { attribute: unknown }>, list: Parameters<typeof check>[1]): number {
  const members = list === undefined ? undefined : 'members' in list ? list.members : [list]
  if (members === undefined) expect(attribute.many).toBeUndefined()
  else expect(members).toContain(attribute)
  return 1
}

it('hostileQuery JSON becomes a sound tree or is refused with a path, in little time', () => {
  let understood = 0
  fc.assert(
    fc.property(hostileQuery, fc.constantFrom('expression', 'graphql', 'idtype-value'), (query, query_type) => {
      const started = processorTime()
      const read = readOrRefuse(query, query_type)
      expect(processorTime() - started).toBeLessThan(2_500)
      if (read instanceof QueryProblem) {
        expect(read.path).toMatch(/^query/)
        expect(read.rule).not.toBe('')
      } else {
        understood += 1
        check(read.predicate)
      }
    }),
    { numRuns: 4_000 },
  )
  expect(understood).toBeGreaterThan(20)
})

const conditions = fc.letrec<{ object: JsonObject }>((tie) => {
  const operators = fc.oneof(
    fc.record({ $exists: fc.boolean() }),
    fc.record({ $in: fc.constantFrom<JsonValue>(['1', '2'], ['1']) }),
    fc.record({ $ne: fc.constantFrom<JsonValue>('1', '2') }),
    fc.constantFrom<JsonValue>('1', '2'),
  )
  const names = fc.constantFrom('surname', 'sex', 'score', 'age', 'farm_size', 'programme', 'status', 'UIN')
  const leaf = fc.array(fc.tuple(names, operators), { minLength: 1, maxLength: 3 }).map(objectOf)
  const many = fc.array(tie('object'), { minLength: 1, maxLength: 3 })
  return {
    object: fc.oneof(
      { maxDepth: 6, depthSize: 'small' },
      leaf,
      many.map(($and) => ({ $and })),
      many.map(($or) => ({ $or })),
      many.map(($nor) => ({ $nor })),
      tie('object').map(($not) => ({ $not })),
    ),
  }
}).object

/** Conditions in a query as it is written. */
function termsOf(value: JsonValue): number {
  if (Array.isArray(value)) return value.reduce<number>((terms, each) => terms + termsOf(each), 0)
  if (typeof value !== 'object' || value === null) return 1
  return Object.entries(value).reduce(
    (terms, [name, member]) => terms + (/^\$(and|or|nor|not)$/.test(name) ? termsOf(member) : 1),
    0,
  )
}

it('every condition that is written is in the tree', () => {
  fc.assert(
    fc.property(conditions, (query) => {
      const read = readOrRefuse(query)
      if (read instanceof QueryProblem) expect(read.rule).toMatch(/^must not be nested deeper|at most 200 conditions$/)
      else expect(check(read.predicate)).toBe(termsOf(query))
    }),
    { numRuns: 1_500 },
  )
})

it.each([
  ['an array in arrays', (inner: unknown) => [inner]],
  ['$and in $and', (inner: unknown) => ({ $and: [inner] })],
  ['$not in $not', (inner: unknown) => ({ $not: inner })],
  ['a name in a name', (inner: unknown) => ({ name: inner })],
  ['a compound in a compound', (inner: unknown) => ({ enrolment: inner })],
  ['$not under an attribute', (inner: unknown) => ({ sex: { $not: inner } })],
  ['a value in a value', (inner: unknown) => ({ type: 'expression', value: inner })],
  ['a query in a query', (inner: unknown) => ({ query: inner })],
])('%s, a hundred thousand deep, is refused at once', (_name, wrap) => {
  let query: unknown = { sex: 'F' }
  for (let level = 0; level < 100_000; level++) query = wrap(query)
  const started = processorTime()
  expect(readOrRefuse(query)).toBeInstanceOf(QueryProblem)
  expect(processorTime() - started).toBeLessThan(1_000)
})

it('a hundred thousand members, elements or values are refused at once', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => index)
  const members = Object.fromEntries(many.map((index) => [`a${index}`, 1]))
  const element = { expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'F' } }
  const started = processorTime()
  for (const query of [
    members,
    { name: members },
    { sex: members },
    many.map(() => element),
    { $or: many.map(() => ({ sex: 'F' })) },
    { score: { $in: many } },
    { identifier: { $in: many } },
    { type: 'UIN', value: 'x'.repeat(1_000_000) },
    { surname: 'x'.repeat(1_000_000) },
    { ['x'.repeat(1_000_000)]: 1 },
    { ['a.'.repeat(100_000)]: 1 },
  ]) {
    const refused = readOrRefuse(query)
    expect(refused).toBeInstanceOf(QueryProblem)
    expect((refused as QueryProblem).message.length).toBeLessThan(1_000)
  }
  expect(processorTime() - started).toBeLessThan(5_000)
  expect(LIMITS.query_terms).toBeLessThan(many.length)
})
