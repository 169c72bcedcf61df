import type { Attribute, RecordType } from '@rollcall/protocol'
import { KINDS } from '@rollcall/protocol'
import { describe, expect, test } from 'vitest'
import type { Comparator, Literal, Predicate } from '../model/predicate.ts'
import { replaceAgesByDates } from './resolve-ages.ts'

const birth: Attribute = { name: 'birth_date', paths: ['birth_date'], type: 'date' }
const surname: Attribute = { name: 'surname', paths: ['surname'], type: 'text' }
const age: Attribute = { name: 'age', paths: [], type: 'age', since: 'birth_date' }
const [civil] = KINDS
if (civil === undefined) throw new Error('no kinds')
const person: RecordType = { ...civil.record_types[0], attributes: [surname, age, birth] }

const asks = (operator: Comparator, value: Literal, attribute = age): Predicate => {
  return { is: 'compare', attribute, operator, value }
}
const born = (operator: Comparator, from: string, to = from) => asks(operator, { from, to }, birth)
/** The predicate as of a day, after which nobody was born. */
const until = (day: string, predicate: Predicate): Predicate => ({ ...predicate, until: day }) as Predicate

describe('on 21 November 2026', () => {
  test.each<[Comparator, number, Predicate]>([
    ['ge', 18, born('le', '2008-11-21')],
    ['gt', 18, born('le', '2007-11-21')],
    ['lt', 18, born('gt', '2008-11-21')],
    ['le', 18, born('gt', '2007-11-21')],
    ['eq', 18, born('eq', '2007-11-22', '2008-11-21')],
    ['ge', 0, born('le', '2026-11-21')],
    ['lt', 0, born('gt', '2026-11-21')],
    ['eq', 0, born('eq', '2025-11-22', '2026-11-21')],
    ['ge', 1000, born('le', '1026-11-21')],
  ])('age %s %i', (operator, years, expected) => {
    expect(replaceAgesByDates(asks(operator, years), person, '2026-11-21')).toEqual(until('2026-11-21', expected))
  })

  test('one of several ages', () => {
    expect(replaceAgesByDates({ is: 'in', attribute: age, values: [18, 65] }, person, '2026-11-21')).toEqual({
      is: 'in',
      attribute: birth,
      values: [
        { from: '2007-11-22', to: '2008-11-21' },
        { from: '1960-11-22', to: '1961-11-21' },
      ],
      until: '2026-11-21',
    })
    expect(replaceAgesByDates({ is: 'in', attribute: age, values: [18] }, person, '2026-11-21')).toEqual(
      until('2026-11-21', born('eq', '2007-11-22', '2008-11-21')),
    )
  })

  test('an age is known when the date is', () => {
    expect(replaceAgesByDates({ is: 'exists', attribute: age }, person, '2026-11-21')).toEqual({
      is: 'exists',
      attribute: birth,
      until: '2026-11-21',
    })
  })
})

describe('leap days', () => {
  test.each<[day: string, Comparator, number, Predicate]>([
    // Born on 29 February 2008: the birthday of 2026 is 1 March.
    ['2026-02-28', 'ge', 18, born('le', '2008-02-28')],
    ['2026-03-01', 'ge', 18, born('le', '2008-03-01')],
    ['2026-02-28', 'eq', 18, born('eq', '2007-03-01', '2008-02-28')],
    ['2026-03-01', 'eq', 18, born('eq', '2007-03-02', '2008-03-01')],
    ['2026-03-01', 'eq', 17, born('eq', '2008-03-02', '2009-03-01')],
    // 2028 has the day again: it is nobody's birthday who was born in a year without it.
    ['2028-02-29', 'ge', 20, born('le', '2008-02-29')],
    ['2028-02-29', 'ge', 19, born('le', '2009-02-28')],
    ['2028-02-29', 'eq', 20, born('eq', '2007-03-01', '2008-02-29')],
    ['2028-02-28', 'eq', 20, born('eq', '2007-03-01', '2008-02-28')],
    ['2028-02-29', 'eq', 19, born('eq', '2008-03-01', '2009-02-28')],
    // 1900 was no leap year, 2000 was.
    ['2000-02-29', 'ge', 100, born('le', '1900-02-28')],
    ['2028-02-29', 'ge', 28, born('le', '2000-02-29')],
  ])('on %s age %s %i', (day, operator, years, expected) => {
    expect(replaceAgesByDates(asks(operator, years), person, day)).toEqual(until(day, expected))
  })
})

test.each<[day: string, Predicate]>([
  ['2026-12-31', born('eq', '2006-01-01', '2006-12-31')],
  ['2026-01-01', born('eq', '2005-01-02', '2006-01-01')],
])('at the end of the year: 20 years old on %s', (day, expected) => {
  expect(replaceAgesByDates(asks('eq', 20), person, day)).toEqual(until(day, expected))
})

describe('before the first day of the calendar', () => {
  // In comparison with it no date is before it and every date is in or after it; a missing one is unknown to both.
  const day = '0899-06-15'
  const nobody = born('lt', '0001-01-01')
  const everybody = born('ge', '0001-01-01')

  test.each<[Comparator, number, Predicate]>([
    ['ge', 1000, nobody],
    ['gt', 1000, nobody],
    ['eq', 1000, nobody],
    ['lt', 1000, everybody],
    ['le', 1000, everybody],
    ['ge', 898, born('le', '0001-06-15')],
    ['gt', 898, nobody],
    ['le', 898, everybody],
    ['eq', 898, born('eq', '0001-01-01', '0001-06-15')],
  ])('in the year 899 age %s %i', (operator, years, expected) => {
    expect(replaceAgesByDates(asks(operator, years), person, day)).toEqual(until(day, expected))
  })

  test('ages that nobody can have drop out of several', () => {
    const some = (...values: number[]): Predicate => ({ is: 'in', attribute: age, values })
    expect(replaceAgesByDates(some(900, 1000), person, day)).toEqual(until(day, nobody))
    expect(replaceAgesByDates(some(1000, 898), person, day)).toEqual(until(day, born('eq', '0001-01-01', '0001-06-15')))
  })
})

test('ages are found wherever they stand, and the rest stays the object that it was', () => {
  const other = asks('eq', 'okoro', surname)
  const tree = (leaf: Predicate): Predicate => ({ is: 'and', of: [other, { is: 'not', of: { is: 'or', of: [other, leaf] } }] })
  expect(replaceAgesByDates(tree(asks('ge', 18)), person, '2026-11-21')).toEqual(
    tree(until('2026-11-21', born('le', '2008-11-21'))),
  )
})

test('the same object where no age is asked', () => {
  const list = { name: 'stay', paths: ['stays'], members: [surname, birth] }
  const leaf = asks('eq', 'okoro', surname)
  const predicate: Predicate = {
    is: 'and',
    of: [
      { is: 'not', of: leaf },
      { is: 'or', of: [born('lt', '1985-01-01'), { is: 'some', list, of: { is: 'not', of: leaf } }] },
      { is: 'in', attribute: surname, values: ['okoro', 'diallo'] },
      { is: 'exists', attribute: surname },
      { is: 'identifier', identifiers: [{ type: 'UIN', value: 'A1' }] },
      { is: 'identifier_type', types: ['UIN'] },
    ],
  }
  expect(replaceAgesByDates(predicate, person, '2026-11-21')).toBe(predicate)
})

test('in an element of a list, since a date of the same element', () => {
  const list = { name: 'stay', paths: ['stays'], members: [surname, age, birth] }
  const some = (of: Predicate): Predicate => ({ is: 'some', list, of })
  const withoutBirth = { ...person, attributes: [surname] }
  expect(replaceAgesByDates(some(asks('ge', 18)), withoutBirth, '2026-11-21')).toEqual(
    some(until('2026-11-21', born('le', '2008-11-21'))),
  )
})

describe('what no reader makes is an error of ours', () => {
  test.each<[string, Predicate, RecordType]>([
    ['age counts since birth_date, which is no date there', asks('ge', 18), { ...person, attributes: [surname] }],
    ['an age is compared with a whole number of years', asks('ge', 18.5), person],
    ['an age is compared with a whole number of years', asks('ge', '18'), person],
    ['an age is not compared by contains', asks('contains', 18), person],
  ])('%s', (message, predicate, recordType) => {
    expect(() => replaceAgesByDates(predicate, recordType, '2026-11-21')).toThrow(new Error(message))
  })
})
