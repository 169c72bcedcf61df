import { expect, it } from 'vitest'
import { type Condition, expressionOf, valueAt } from './expression.ts'

const TYPES = new Map([
  ['surname', 'text'],
  ['age', 'age'],
  ['score', 'number'],
  ['alive', 'boolean'],
])

it.each<[Condition[], object]>([
  [[{ attribute: 'surname', operator: '$eq', value: ' Okafor ' }], { surname: { $eq: 'Okafor' } }],
  [[{ attribute: 'surname', operator: '$eq', value: '0012' }], { surname: { $eq: '0012' } }],
  [[{ attribute: 'age', operator: '$gte', value: '18' }], { age: { $gte: 18 } }],
  [[{ attribute: 'age', operator: '$gte', value: 'old' }], { age: { $gte: 'old' } }],
  [[{ attribute: 'score', operator: '$in', value: '1, 2.5,' }], { score: { $in: [1, 2.5] } }],
  [[{ attribute: 'alive', operator: '$ne', value: 'false' }], { alive: { $ne: false } }],
  [[{ attribute: 'unknown', operator: '$exists', value: 'x' }], { unknown: { $exists: true } }],
  [
    [
      { attribute: 'age', operator: '$gt', value: '1' },
      { attribute: 'age', operator: '$lt', value: '5' },
    ],
    { $and: [{ age: { $gt: 1 } }, { age: { $lt: 5 } }] },
  ],
])('%j is the expression %j', (conditions, expression) => {
  expect(expressionOf(conditions, TYPES)).toEqual(expression)
})

it.each([
  ['name.surname', 'Okafor'],
  ['identifier.value', '12'],
  ['name', null],
  ['name.surname.more', null],
  ['none.at.all', null],
])('the value at %s is %j', (path, value) => {
  const record = { name: { surname: 'Okafor' }, identifier: [{ value: 12 }, { value: 13 }] }
  expect(valueAt(record, path)).toBe(value)
})
