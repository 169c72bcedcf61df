import { expect, it } from 'vitest'
import { type Condition, findValueText, readConditions, writeExpression } from './expression.ts'

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
  expect(writeExpression(conditions, TYPES)).toEqual(expression)
  const again = readConditions(expression)
  expect(again && writeExpression(again, TYPES)).toEqual(expression)
})

it.each<[object, Condition[]]>([
  [{ sex: 'female' }, [{ attribute: 'sex', operator: '$eq', value: 'female' }]],
  [
    { birth_date: { gte: '1950-01-01', $lt: '1966-01-01' }, $and: [{ region: { in: ['N', 'S'] } }] },
    [
      { attribute: 'birth_date', operator: '$gte', value: '1950-01-01' },
      { attribute: 'birth_date', operator: '$lt', value: '1966-01-01' },
      { attribute: 'region', operator: '$in', value: 'N, S' },
    ],
  ],
])('the expression %j is read as conditions', (expression, conditions) => {
  expect(readConditions(expression)).toEqual(conditions)
})

it.each([
  [{ $or: [{ sex: 'female' }, { age: { $gt: 60 } }] }],
  [{ $and: [{ sex: 'female' }, { $not: { age: 1 } }] }],
  [{ age: { $between: [1, 2] } }],
  [{ age: { $eq: [1] } }],
  [{ name: { $exists: false } }],
  [{ name: { $in: ['a,b'] } }],
  [{ name: null }],
  [{}],
  [[]],
  [undefined],
])('%j says more than conditions that must all hold', (expression) => {
  expect(readConditions(expression)).toBe(null)
})

it.each([
  ['name.surname', 'Okafor'],
  ['identifier.value', '12'],
  ['name', null],
  ['name.surname.more', null],
  ['none.at.all', null],
])('the value at %s is %j', (path, value) => {
  const record = { name: { surname: 'Okafor' }, identifier: [{ value: 12 }, { value: 13 }] }
  expect(findValueText(record, path)).toBe(value)
})
