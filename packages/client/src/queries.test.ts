import { KINDS, SearchCriteria, validator } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readQuery } from '../../core/src/query/read-query.ts'
import {
  both,
  butNot,
  type Condition,
  type Conditions,
  compare,
  either,
  expression,
  expressionList,
  graphql,
  identifier,
  type QueryCriteria,
} from './queries.ts'

const documented = validator(SearchCriteria)
const kind = KINDS.find(({ name }) => name === 'civil')
if (kind === undefined) throw new Error('there is no civil registry')
const [recordType] = kind.record_types
const scope = { kind, recordType, limits: { query_depth: 20, query_terms: 200, query_values: 1_000 } }

/** A server reads it, to the last member, and it has its documented shape. */
function expectRead({ query_type, query }: QueryCriteria): void {
  expect(documented.problem({ query_type, query }, '')).toBeNull()
  // The query after it went through JSON.
  const arrived = JSON.parse(JSON.stringify(query))
  expect(readQuery(scope, query_type, arrived, 'query')).toHaveProperty('predicate')
}

const word = fc.stringMatching(/^[A-Za-z][A-Za-z '-]{0,20}$/)
const day = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const textCondition: fc.Arbitrary<Condition> = fc.oneof(
  word,
  word.map(($eq) => ({ $eq })),
  word.map(($ne) => ({ $ne })),
  fc.array(word, { minLength: 1, maxLength: 5 }).map(($in) => ({ $in })),
  fc.array(word, { minLength: 1, maxLength: 5 }).map(($nin) => ({ $nin })),
  fc.boolean().map(($exists) => ({ $exists })),
  word.map(($startsWith) => ({ $startsWith })),
  word.map(($contains) => ({ $contains })),
)
const dayCondition: fc.Arbitrary<Condition> = fc.oneof(
  day,
  day.map(($gt) => ({ $gt })),
  day.map(($gte) => ({ $gte })),
  day.map(($lt) => ({ $lt })),
  day.map(($lte) => ({ $lte })),
)
const leaf: fc.Arbitrary<Conditions> = fc.oneof(
  textCondition.map((surname): Conditions => ({ surname })),
  dayCondition.map((birth_date): Conditions => ({ birth_date })),
)
const { tree } = fc.letrec<{ tree: Conditions }>((again) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(again('tree'), { minLength: 1, maxLength: 3 }).map(($and): Conditions => ({ $and })),
    fc.array(again('tree'), { minLength: 1, maxLength: 3 }).map(($or): Conditions => ({ $or })),
    again('tree').map(($not): Conditions => ({ $not })),
  ),
}))

const comparison = fc.oneof(
  fc.tuple(fc.constantFrom('eq' as const), word).map(([operator, value]) => compare('surname', operator, value)),
  fc
    .tuple(fc.constantFrom('gt' as const, 'ge' as const, 'lt' as const, 'le' as const, 'eq' as const), day)
    .map(([operator, value]) => compare('birth_date', operator, value)),
  fc.integer({ min: 0, max: 120 }).map((years) => compare('age', 'lt', years)),
  fc.array(word, { minLength: 1, maxLength: 4 }).map((values) => compare('surname', 'in', values)),
)
const element = fc.oneof(
  comparison,
  fc.tuple(fc.constantFrom(either, both, butNot), comparison, comparison).map(([join, first, second]) => join(first, second)),
)

describe('what the builders make, a server reads', () => {
  it('by identifier', () => {
    fc.assert(fc.property(fc.stringMatching(/^[0-9]{1,20}$/), (value) => expectRead(identifier('UIN', value))))
  })

  it('by expression', () => {
    fc.assert(fc.property(tree, (conditions) => expectRead(expression(conditions))))
  })

  it('by expression list', () => {
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 6 }), (elements) => expectRead(expressionList(...elements))),
    )
  })

  it('by GraphQL', () => {
    expectRead(graphql('query { person(UIN: "0012") { birth_date } }'))
  })
})

describe('they make', () => {
  it('the documented members', () => {
    expect(identifier('UIN', '0012')).toEqual({ query_type: 'idtype-value', query: { type: 'UIN', value: '0012' } })
    expect(expression({ poverty_score: { $lt: 4 } }, { collection: 'Group' })).toEqual({
      query_type: 'expression',
      query: {
        type: 'ns:org:QueryType:expression',
        value: { expression: { collection: 'Group', query: { poverty_score: { $lt: 4 } } } },
      },
    })
    const young = compare('age', 'lt', 30)
    expect(young.attribute_value).toBe('30')
    const woman = compare('sex', 'eq', 'female')
    expect(expressionList(young, either(woman, young)).query).toEqual([
      { seq_num: 1, expression1: young },
      { seq_num: 2, expression1: woman, condition: 'or', expression2: young },
    ])
    expect([both(young, woman).condition, butNot(young, woman).condition]).toEqual(['and', 'not'])
  })
})
