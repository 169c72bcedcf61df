import { describe, expect, it } from 'vitest'
import { validator } from '../validate.ts'
import { Comparison, ExpressionListElement, IdentifierQuery, Query, QueryType, SortCriterion } from './query.ts'

const age = { attribute_name: 'age', operator: 'lt', attribute_value: '30' }

describe('the query forms', () => {
  it.each([
    ['identifier, text', { type: 'UIN', value: 'U-1' }],
    ['identifier, number', { type: 'UIN', value: 7 }],
    ['identifier, boolean', { type: 'UIN', value: true }],
    ['identifier, object', { type: 'idtype-value', value: { id_type: 'UIN', id_value: 'U-1' } }],
    ['expression', { type: 'ns:org:QueryType:expression', value: { expression: { query: { sex: 'f' } } } }],
    ['graphql', { type: 'ns:org:QueryType:graphql', value: { expression: 'query { person { UIN } }' } }],
    ['predicate', [{ seq_num: 1, expression1: age, condition: 'and', expression2: age }]],
    ['predicate of one', [{ expression1: age }]],
    ['in a list', [{ expression1: { ...age, operator: 'in', attribute_value: ['1', '2'] } }]],
  ])('hold %s', (_, query) => {
    expect(validator(Query).problem(query, 'query')).toBeNull()
  })

  it.each([
    ['no value', IdentifierQuery, { type: 'UIN' }, 'query.value: is required'],
    ['no type', IdentifierQuery, { value: 'U-1' }, 'query.type: is required'],
    ['no first comparison', ExpressionListElement, { expression2: age }, 'query.expression1: is required'],
    [
      'another condition',
      ExpressionListElement,
      { expression1: age, condition: 'xor' },
      'query.condition: must be one of and, or, not',
    ],
    ['another operator', Comparison, { ...age, operator: 'gte' }, 'query.operator: must be one of gt, lt, eq, ge, le, in'],
    ['nothing to compare', Comparison, { attribute_name: 'age', operator: 'eq' }, 'query.attribute_value: is required'],
    ['another query type', QueryType, 'sql', 'query: must be one of idtype-value, expression, predicate, graphql'],
    ['another order', SortCriterion, { sort_order: 'up' }, 'query.sort_order: must be one of asc, desc'],
  ])('do not hold %s', (_, schema, value, problem) => {
    expect(validator(schema).problem(value, 'query')).toBe(problem)
  })

  it('are no text', () => {
    expect(validator(Query).problem('UIN=7', 'query')).toBe('query: must be an object or an array')
  })
})
