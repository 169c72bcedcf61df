import type { JsonValue } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { ATTRIBUTES, SCOPE, shown } from '../../../test/query-kind.ts'
import { readExpression } from './expression.ts'
import type { ConditionSubjectType } from './leaves.ts'
import { OPERATORS, resolveOperator } from './operators.ts'
import { QueryReader } from './reader.ts'

/** For each type: a right value, the words of a refusal, and wrong values. */
const TYPES: Readonly<Record<ConditionSubjectType, { name: string; right: JsonValue; meant: string; wrong: JsonValue[] }>> = {
  text: row('text', 'x', 'text of 1 to 512 characters', [true, ['x'], {}, 'x'.repeat(513)]),
  code: row('code', 'F', 'a code of 1 to 512 characters', [true, ['F'], {}, 'x'.repeat(513)]),
  date: row('date', '1985', 'a date such as 1985, 1985-06, 1985-06-12 or 12.06.1985', [
    true,
    ['1985'],
    {},
    'soon',
    '2023-02-29',
    '1985-13',
    85,
    1e300,
  ]),
  datetime: row('datetime', '2024-06-30', 'a date, or an instant such as 2024-06-30T12:00:00Z', [
    true,
    [],
    {},
    'soon',
    '2024-06-30T25:00:00Z',
    1_700_000_000,
  ]),
  number: row('number', 1, 'a number that a double can hold as it is written', [
    true,
    [1],
    {},
    'one',
    'NaN',
    'Infinity',
    '1e400',
    Number.NaN,
    '9007199254740993',
  ]),
  boolean: row('boolean', true, 'true or false', ['yes', 2, [true], {}]),
  age: row('age', 30, 'a whole number of years from 0 to 1000', [true, [30], {}, -1, 1.5, '30y', 1001, 1e300]),
  identifier: {
    name: 'UIN',
    right: 'x',
    meant: 'a string of 1 to 256 characters or a whole number',
    wrong: [true, {}, ['x'], 1.5, 1e21, ' ', 'x'.repeat(257), '', null, 'a\0'],
  },
}

function row(type: keyof typeof ATTRIBUTES, right: JsonValue, meant: string, wrong: JsonValue[]) {
  return { name: ATTRIBUTES[type].name, right, meant, wrong }
}

const read = (name: string, operator: string, value: JsonValue): string =>
  shown(readExpression(new QueryReader(SCOPE), { [name]: { [operator]: value } }, 'query'))

const cases = OPERATORS.flatMap((operator) =>
  (Object.keys(TYPES) as ConditionSubjectType[]).map((type) => ({ operator, type, ...TYPES[type] })),
)

describe.each(cases)('$operator.name of $type', ({ operator, type, name, right, meant, wrong }) => {
  const spelled = `$${operator.name}`
  if (!operator.asks.includes(type)) {
    it('is refused, and what may ask is said', () => {
      const names = OPERATORS.filter(({ asks }) => asks.includes(type)).map((row) => `$${row.name}`)
      const message = `query.${name}.${spelled}: must be an operator of ${name}: ${names.join(', ')}`
      expect(() => read(name, spelled, right)).toThrow(expect.objectContaining({ name: 'QueryProblem', message }))
    })
    return
  }
  if (operator.name === 'exists') {
    it.each([[null], [''], ['yes'], [1], [[true]], [{}]])('refuses %j', (value) => {
      expect(() => read(name, spelled, value)).toThrow(`query.${name}.$exists: must be true or false`)
    })
    return
  }
  it('takes what is right', () => {
    expect(read(name, spelled, right)).not.toBe('')
  })
  it.each(wrong.map((value) => [value]))('refuses %s', (value) => {
    const isList = ['in', 'nin'].includes(operator.name)
    const given = isList ? [right, value] : value
    const message = `query.${name}.${spelled}${isList ? '[1]' : ''}: must be ${meant}`
    expect(() => read(name, spelled, given)).toThrow(expect.objectContaining({ name: 'QueryProblem', message }))
  })
  it.each(type === 'identifier' ? [] : [[null], ['']])('refuses %j, which is missing', (value) => {
    expect(() => read(name, spelled, value)).toThrow(
      `query.${name}.${spelled}: must not be empty: what is missing is asked for with exists`,
    )
  })
})

describe('a text of values with commas between them', () => {
  it.each([
    ['in', 'a,b', ['a', 'b']],
    ['nin', ' a ,\tb c , d', ['a', 'b c', 'd']],
    ['in', 'a', ['a']],
  ])('%s %j is %j', (operator, text, values) => {
    expect(read('UIN', operator, text)).toBe(read('UIN', operator, values))
    expect(read('surname', operator, text)).toBe(read('surname', operator, values))
  })

  it.each(['a,', ',a', 'a,,b', 'a, ,b', ','])('%j has an empty one', (text) => {
    const message = 'query.surname.$in: must be values with commas between them, none of them empty'
    expect(() => read('surname', '$in', text)).toThrow(expect.objectContaining({ name: 'QueryProblem', message }))
  })

  it('has no more values than an array may have', () => {
    const { query_values: values } = SCOPE.limits
    expect(read('surname', 'in', Array(values).fill('a').join())).toBe(read('surname', 'in', ['a']))
    expect(() => read('surname', 'in', Array(1_000_000).fill('a').join())).toThrow(
      `query.surname.in: a query must have at most ${values} values in its lists`,
    )
  })
})

it('every spelling means one operator', () => {
  const spellings = OPERATORS.flatMap((operator) => operator.spellings)
  expect(new Set(spellings).size).toBe(spellings.length)
  for (const spelling of spellings) {
    expect(resolveOperator(`$${spelling.toUpperCase()}`)).toBe(resolveOperator(spelling))
  }
  expect(resolveOperator('$$eq')).toBeUndefined()
  expect(resolveOperator('constructor')).toBeUndefined()
})
