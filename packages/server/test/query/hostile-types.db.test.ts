/** Every operator with every wrong type is refused by its member. */
import { describe, expect, it } from 'vitest'
import { EXPRESSION, escaped, hostileTarget, INVALID, inExpression, SECRET } from './hostile.ts'

const target = hostileTarget()

/** An attribute of each type of the civil registry, with values that are none of the type. */
const WRONG: readonly (readonly [namespace: string, attribute: string, meant: RegExp, wrong: readonly unknown[]])[] = [
  ['civil', 'surname', /must be text of 1 to 512 characters$/, [true, SECRET.repeat(100)]],
  ['civil', 'sex', /must be a code of 1 to 512 characters$/, [true, SECRET.repeat(100)]],
  [
    'civil',
    'birth_date',
    /must be a date such as 1985, 1985-06, 1985-06-12 or 12.06.1985$/,
    [SECRET, '2023-02-31', '1985-13', true, -5, 1e300, '1985-06-12T25:00'],
  ],
  ['civil', 'registration_date', /must be a date/, [SECRET, '2023-02-31', true, 5, '2024-01-01T00:00:00+99:00']],
  ['civil', 'age', /must be a/, [SECRET, -1, 1.5, 1e300, 'NaN', '1e400', true, 5000]],
  ['social', 'poverty_score', /must be a number/, [SECRET, 'NaN', 'Infinity', '1e400', '0x10', '1,5', true]],
  ['social', 'is_disabled', /must be true or false/, [SECRET, 2, -1, 'yes!', 0.5]],
]
const GOOD: Readonly<Record<string, unknown>> = { age: 5, poverty_score: 1, is_disabled: true }
const EMPTY = /must not be empty: what is missing is asked for with exists$/
const COMPARING = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']
const UNORDERED = ['$eq', '$ne']
const comparing = (attribute: string) => (['sex', 'is_disabled'].includes(attribute) ? UNORDERED : COMPARING)

describe('every operator with every wrong type', () => {
  it.each(WRONG)('%s, %s', async (namespace, attribute, meant, wrong) => {
    const expectRefused = (criteria: object, message: string | RegExp) =>
      target.expectRefused(criteria, message, INVALID, namespace)
    const where = `${EXPRESSION}.${attribute}`
    for (const operator of comparing(attribute)) {
      for (const value of wrong) {
        const message = new RegExp(`^${escaped(`${where}.${operator}: `)}${meant.source}`)
        await expectRefused(inExpression({ [attribute]: { [operator]: value } }), message)
      }
      for (const value of [null, '']) {
        const message = new RegExp(`^${escaped(`${where}.${operator}: `)}${EMPTY.source}`)
        await expectRefused(inExpression({ [attribute]: { [operator]: value } }), message)
      }
      for (const value of [{}, { [SECRET]: 1 }, [], [SECRET]]) {
        const item = await target.ask(inExpression({ [attribute]: { [operator]: value } }), namespace)
        expect(item).toMatchObject({ status: 'rjct', status_reason_code: INVALID })
        expect(item.status_reason_message).toMatch(new RegExp(`^${escaped(`${where}.${operator}`)}: must be`))
      }
    }
    for (const operator of ['$in', '$nin']) {
      for (const value of wrong) {
        const message = new RegExp(`^${escaped(`${where}.${operator}[1]: `)}${meant.source}`)
        const good = GOOD[attribute] ?? '2020'
        await expectRefused(inExpression({ [attribute]: { [operator]: [good, value] } }), message)
      }
      const rule = `${where}.${operator}: must have at least one value`
      await expectRefused(inExpression({ [attribute]: { [operator]: [] } }), rule)
    }
    for (const value of [null, '', SECRET, 2, [], {}, [true]]) {
      const rule = `${where}.$exists: must be true or false`
      await expectRefused(inExpression({ [attribute]: { $exists: value } }), rule)
    }
  })

  it.each([
    ['sex', '$gt', 'F'],
    ['sex', '$contains', 'F'],
    ['marital_status', '$startsWith', 'M'],
    ['UIN', '$gt', '0'],
    ['UIN', '$startsWith', '0'],
    ['identifier', '$contains', '0'],
    ['birth_date', '$contains', '19'],
    ['age', '$startsWith', '1'],
    ['surname', '$regex', '.*'],
    ['surname', '$where', 'sleep(9)'],
    ['surname', '$like', '%'],
    ['surname', '$__proto__', 'x'],
    ['surname', '$constructor', 'x'],
  ])('%s knows no %s', async (attribute, operator, value) => {
    const where = `${EXPRESSION}.${attribute}.${operator}`
    const message = new RegExp(`^${escaped(where)}: must be an operator of \\w+: \\$eq, \\$ne, `)
    await target.expectRefused(inExpression({ [attribute]: { [operator]: value } }), message)
  })
})
