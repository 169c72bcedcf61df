import type { JsonValue } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../../test/processor-time.ts'
import { SCOPE, shown } from '../../../test/query-kind.ts'
import { readComparison, readExpressionList } from './expression-list.ts'
import { QueryReader } from './reader.ts'

const compare = (attribute_name: string, operator: JsonValue, attribute_value: JsonValue) => {
  return { attribute_name, operator, attribute_value }
}
const F = compare('sex', 'eq', 'F')
const ONE = compare('score', 'eq', '1')
const TWO = compare('score', 'eq', '2')

const read = (value: JsonValue): string => shown(readExpressionList(new QueryReader(SCOPE), value, 'query'))
const refusal = (value: JsonValue) => () => readExpressionList(new QueryReader(SCOPE), value, 'query')

describe('elements', () => {
  it.each<[JsonValue, string]>([
    [[{ expression1: F }], 'sex eq "female"'],
    [{ seq_num: 1, expression1: F }, 'sex eq "female"'],
    [[{ expression1: F, condition: 'and', expression2: ONE }], 'and(sex eq "female", score eq 1)'],
    [[{ expression1: F, condition: 'OR', expression2: ONE }], 'or(sex eq "female", score eq 1)'],
    [[{ expression1: F, condition: 'not', expression2: ONE }], 'and(sex eq "female", not(score eq 1))'],
    [[{ expression1: F, condition: '', expression2: null }], 'sex eq "female"'],
    [[{ expression1: F, condition: null, expression2: '' }], 'sex eq "female"'],
    [
      [
        { seq_num: 2, expression1: F },
        { seq_num: '1', expression1: ONE, condition: 'or', expression2: TWO },
        { seq_num: '', expression1: compare('score', 'gt', 9) },
        { seq_num: 2, expression1: compare('score', 'lt', 5) },
        { expression1: compare('score', 'le', 7) },
        { seq_num: -1.5, expression1: compare('age', 'lt', 20) },
      ],
      'and(age lt 20, or(score eq 1, score eq 2), sex eq "female", score lt 5, score gt 9, score le 7)',
    ],
  ])('%j', (value, tree) => {
    expect(read(value)).toBe(tree)
  })
})

describe('operators', () => {
  it.each<[JsonValue, JsonValue, string]>([
    ['gt', '1', 'score gt 1'],
    ['ge', 1, 'score ge 1'],
    ['gte', 1, 'score ge 1'],
    ['lt', 1, 'score lt 1'],
    ['LE', 1, 'score le 1'],
    ['$lte', 1, 'score le 1'],
    ['eq', 1, 'score eq 1'],
    ['=', 1, 'score eq 1'],
    ['ne', 1, 'not(score eq 1)'],
    ['in', [1, '2', 1], 'score in [1, 2]'],
    ['in', 1, 'score in [1]'],
    ['nin', [1], 'not(score in [1])'],
    ['$EXISTS', false, 'not(score exists)'],
  ])('%s %j', (operator, value, tree) => {
    expect(shown(readComparison(new QueryReader(SCOPE), compare('points', operator, value), 'query'))).toBe(tree)
  })
})

describe('one and the same element', () => {
  const p1 = compare('programme', 'eq', 'P1')
  const active = compare('status', 'eq', 'Active')
  it.each<[JsonValue, string]>([
    [[{ expression1: p1, condition: 'and', expression2: active }], 'some enrolment(and(programme eq "P1", status eq "1"))'],
    [
      [{ expression1: p1, condition: 'and', expression2: compare('programme', 'eq', 'P2') }],
      'and(some enrolment(programme eq "P1"), some enrolment(programme eq "P2"))',
    ],
    [
      [{ expression1: p1, condition: 'and', expression2: compare('status', 'ne', '1') }],
      'some enrolment(and(programme eq "P1", not(status eq "1")))',
    ],
    [
      [{ expression1: p1, condition: 'not', expression2: active }],
      'and(some enrolment(programme eq "P1"), not(some enrolment(status eq "1")))',
    ],
    [
      [{ expression1: p1, condition: 'or', expression2: active }],
      'or(some enrolment(programme eq "P1"), some enrolment(status eq "1"))',
    ],
    [[{ expression1: p1 }, { expression1: active }], 'and(some enrolment(programme eq "P1"), some enrolment(status eq "1"))'],
    [
      [
        {
          expression1: compare('identifier_type', 'eq', 'BRN'),
          condition: 'and',
          expression2: compare('identifier_value', 'eq', 'x'),
        },
      ],
      'bears BRN X',
    ],
    [
      [
        {
          expression1: compare('identifier_value', 'eq', 'x'),
          condition: 'or',
          expression2: compare('identifier_type', 'eq', 'BRN'),
        },
      ],
      'or(bears UIN X or BRN X or * X, bears a BRN)',
    ],
  ])('%j', (value, tree) => {
    expect(read(value)).toBe(tree)
  })
})

describe('what is refused', () => {
  const elements = 'must be an array of {expression1, ...}, with at least one'
  const element = 'must be an object {seq_num, expression1, condition, expression2}'
  const comparison = 'must be an object {attribute_name, operator, attribute_value}'
  const attribute =
    /^query\[0\]\.expression1\.attribute_name: is no attribute that this participant may ask about; those of Person are surname, sex, /
  const join = 'must be one of and, or, not where expression2 is given'
  it.each<[JsonValue, string | RegExp]>([
    [[], `query: ${elements}`],
    ['x', `query: ${elements}`],
    [['x'], `query[0]: ${element}`],
    [[[]], `query[0]: ${element}`],
    [[{}], `query[0].expression1: ${comparison}`],
    [[{ seq_num: 1 }], `query[0].expression1: ${comparison}`],
    [[{ expression2: F }], `query[0].expression1: ${comparison}`],
    [[{ expression1: 'x' }], `query[0].expression1: ${comparison}`],
    [[{ expression1: F }, { expression1: null }], `query[1].expression1: ${comparison}`],
    [[{ expression1: F, condition: 'and' }], 'query[0].expression2: must be given where a condition is'],
    [[{ expression1: F, condition: 'and', expression2: '' }], 'query[0].expression2: must be given where a condition is'],
    [[{ expression1: F, expression2: ONE }], `query[0].condition: ${join}`],
    [[{ expression1: F, condition: '', expression2: ONE }], `query[0].condition: ${join}`],
    [[{ expression1: F, condition: 'xor', expression2: ONE }], `query[0].condition: ${join}`],
    [[{ expression1: F, condition: 1, expression2: ONE }], `query[0].condition: ${join}`],
    [
      [{ expression1: F, condition: 'and', expression2: {} }],
      /^query\[0\]\.expression2\.attribute_name: is no attribute that this participant may ask about/,
    ],
    [
      [{ expression1: F, condition: 'and', expression2: ONE, expression3: TWO }],
      'query[0].expression3: is not a known member; known members are seq_num, expression1, condition, expression2',
    ],
    [
      [JSON.parse('{"expression1": {}, "__proto__": {}}')],
      'query[0].__proto__: is not a known member; known members are seq_num, expression1, condition, expression2',
    ],
    [
      [{ expression1: { ...F, constructor: 1 } }],
      'query[0].expression1.constructor: is not a known member; known members are attribute_name, operator, attribute_value',
    ],
    [[{ seq_num: 'first', expression1: F }], 'query[0].seq_num: must be a number'],
    [[{ seq_num: true, expression1: F }], 'query[0].seq_num: must be a number'],
    [[{ seq_num: [], expression1: F }], 'query[0].seq_num: must be a number'],
    [[{ seq_num: '1e400', expression1: F }], 'query[0].seq_num: must be a number'],
    [[{ seq_num: Number.NaN, expression1: F }], 'query[0].seq_num: must be a number'],
    [[{ expression1: compare('shoe_size', 'eq', '9') }], attribute],
    [[{ expression1: compare('__proto__', 'eq', '9') }], attribute],
    [[{ expression1: { operator: 'eq', attribute_value: '9' } }], attribute],
    [
      [{ expression1: compare('enrolment', 'eq', '9') }],
      'query[0].expression1.attribute_name: is no attribute that this participant may ask about; those of enrolment are programme, status, since',
    ],
    [
      [{ expression1: compare('score', 'like', '9') }],
      'query[0].expression1.operator: must be an operator of score: eq, ne, gt, gte, lt, lte, in, nin, exists',
    ],
    [
      [{ expression1: { attribute_name: 'sex', attribute_value: 'F' } }],
      'query[0].expression1.operator: must be an operator of sex: eq, ne, in, nin, exists',
    ],
    [
      [{ expression1: { attribute_name: 'sex', operator: 'eq' } }],
      'query[0].expression1.attribute_value: must not be empty: what is missing is asked for with exists',
    ],
    [
      [{ expression1: compare('score', 'eq', ['9']) }],
      'query[0].expression1.attribute_value: must be a number that a double can hold as it is written',
    ],
    [
      [{ expression1: compare('score', 'in', [9, {}]) }],
      'query[0].expression1.attribute_value[1]: must be a number that a double can hold as it is written',
    ],
    [[{ expression1: compare('score', 'in', []) }], 'query[0].expression1.attribute_value: must have at least one value'],
    [Array.from({ length: 201 }, () => ({ expression1: F })), 'query: a query must have at most 200 conditions'],
    [
      Array.from({ length: 101 }, () => ({ expression1: F, condition: 'or', expression2: ONE })),
      'query[100].expression1: a query must have at most 200 conditions',
    ],
  ])('%j', (value, message) => {
    expect(refusal(value)).toThrow(
      expect.objectContaining({
        name: 'QueryProblem',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      }),
    )
  })

  it('a list of millions, before an element is read', () => {
    const list = Array<JsonValue>(4_000_000).fill(0)
    const started = processorTime()
    expect(refusal(list)).toThrow('query: a query must have at most 200 conditions')
    expect(processorTime() - started).toBeLessThan(500)
  })
})
