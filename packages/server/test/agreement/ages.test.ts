/** Every age of the pool, of everybody, on every day: the days that matter are too few to be met by chance. */

import type { Comparator, Predicate } from '@rollcall/core/model/predicate'
import { readRecordValues } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import type { RecordType } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { everything } from '../../../core/test/agreement/everything.ts'
import { rawValues, TODAYS } from '../../../core/test/agreement/raw-values.ts'
import { answer } from './reference.ts'

const OPERATORS: readonly Comparator[] = ['eq', 'lt', 'le', 'gt', 'ge']
const [thing] = everything.record_types

function attributeOf({ attributes }: RecordType, name: string) {
  const found = attributes.find((attribute) => attribute.name === name)
  if (found === undefined) throw new Error(`no attribute ${name}`)
  return found
}

test.each(TODAYS)('memory and reference agree on %s', (today) => {
  const age = attributeOf(thing, 'age')
  const births = rawValues(attributeOf(thing, 'one_date'))
  const people = [...births, null].map((one_date) => readRecordValues(everything, thing, { one_date }))
  for (const value of rawValues(age).map(Number)) {
    const asked: Predicate[] = [
      ...OPERATORS.map((operator): Predicate => ({ is: 'compare', attribute: age, operator, value })),
      { is: 'in', attribute: age, values: [value, 2 * value + 1] },
    ]
    for (const predicate of asked) {
      const bound = replaceAgesByDates(predicate, thing, today)
      for (const person of people) {
        const found = matches(bound, person)
        const denied = matches({ is: 'not', of: bound }, person)
        const expected = answer(predicate, person, today)
        expect([found, denied]).toEqual([expected === 'yes', expected === 'no'])
      }
    }
  }
})
