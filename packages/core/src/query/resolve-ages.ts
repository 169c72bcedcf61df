/** Makes the query of a search for its day: ages are replaced by dates, so that sources of records need not know the day. */
import type { Attribute, RecordType } from '@rollcall/protocol'
import { type Comparator, type Comparison, elementAttributes, type Interval, type Predicate } from '../model/predicate.ts'
import type { RecordQuery } from '../model/record-source.ts'
import type { SearchPageRequest } from '../model/records.ts'
import type { SortKeyWithoutDay } from './page.ts'

const EARLIEST_DATE = '0001-01-01'
/**
 * The first day that a date can have. Thus `lt` with this interval is false for every date: it stands for a condition that no
 * person fulfils, and is still unknown for a missing date.
 */
const EARLIEST_DATE_INTERVAL: Interval = { from: EARLIEST_DATE, to: EARLIEST_DATE }
const DAY_MS = 86_400_000

/** A search whose ages are not replaced by dates yet, because the day of the search is not known. */
export interface SearchWithoutDay {
  readonly recordType: RecordType
  readonly predicate: Predicate
  readonly sort: readonly SortKeyWithoutDay[]
  readonly page_size: number
  /** The number of the page, from 1. */
  readonly page_number: number
}

/**
 * The search as it is made on `day` (YYYY-MM-DD, in the registry's time zone): ages are replaced by dates.
 */
export function makeRecordQuery(
  { recordType, predicate, sort, page_size, page_number }: SearchWithoutDay,
  day: string,
  counts: Pick<SearchPageRequest, 'cap' | 'ids' | 'categories'>,
): RecordQuery {
  const keys = sort.map(({ age, ...key }) => (age ? { ...key, until: day } : key))
  return {
    recordType,
    predicate: replaceAgesByDates(predicate, recordType, day),
    page: { sort: keys, limit: page_size, offset: page_size * (page_number - 1), ...counts },
  }
}

/**
 * Replaces each condition on an age by one on the date from which the age is counted (`attribute.since`). Returns the
 * same object when there is no age. A person reaches an age of n years on the n-th birthday; for a person born on 29
 * February, that is 1 March in years without that day. A person who is not born yet has no age. Throws an Error when
 * the record type has no such date: the kind is wrong.
 * @param day YYYY-MM-DD, in the registry's time zone
 */
export function replaceAgesByDates(predicate: Predicate, { attributes }: Pick<RecordType, 'attributes'>, day: string): Predicate {
  switch (predicate.is) {
    case 'and':
    case 'or': {
      const of = predicate.of.map((part) => replaceAgesByDates(part, { attributes }, day))
      return of.every((part, index) => part === predicate.of[index]) ? predicate : { ...predicate, of }
    }
    case 'not': {
      const of = replaceAgesByDates(predicate.of, { attributes }, day)
      return of === predicate.of ? predicate : { ...predicate, of }
    }
    case 'some': {
      const of = replaceAgesByDates(predicate.of, { attributes: elementAttributes(predicate.list) }, day)
      return of === predicate.of ? predicate : { ...predicate, of }
    }
    case 'compare':
      if (predicate.attribute.type !== 'age') return predicate
      return birthDateComparison(
        predicate.operator,
        dateAttributeOf(predicate.attribute, attributes),
        requireWholeYears(predicate.value),
        day,
      )
    case 'in':
      if (predicate.attribute.type !== 'age') return predicate
      return birthDatesCondition(predicate.values.map(requireWholeYears), dateAttributeOf(predicate.attribute, attributes), day)
    case 'exists':
      if (predicate.attribute.type !== 'age') return predicate
      return { ...predicate, attribute: dateAttributeOf(predicate.attribute, attributes), until: day }
    default:
      return predicate
  }
}

function dateAttributeOf(age: Attribute, attributes: readonly Attribute[]): Attribute {
  const date = attributes.find(({ name }) => name === age.since)
  if (date?.type !== 'date') throw new Error(`${age.name} counts since ${age.since}, which is no date there`)
  return date
}

function requireWholeYears(value: Comparison['value']): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  throw new Error('an age is compared with a whole number of years')
}

/**
 * The condition on the birth date for a comparison with an age: at least n years old means born on or before the day n years ago.
 */
function birthDateComparison(operator: Comparator, attribute: Attribute, age: number, day: string): Predicate {
  const compare = (operator: Comparator, value: Interval): Comparison => {
    return { is: 'compare', attribute, operator, value, until: day }
  }
  const reached = (n: number): Comparison => {
    const last = findLastBirthDate(n, day)
    return last === null ? compare('lt', EARLIEST_DATE_INTERVAL) : compare('le', { from: last, to: last })
  }
  const below = (n: number): Comparison => {
    const last = findLastBirthDate(n, day)
    return last === null ? compare('ge', EARLIEST_DATE_INTERVAL) : compare('gt', { from: last, to: last })
  }
  switch (operator) {
    case 'ge':
      return reached(age)
    case 'gt':
      return reached(age + 1)
    case 'lt':
      return below(age)
    case 'le':
      return below(age + 1)
    case 'eq':
      return birthDatesCondition([age], attribute, day)
    default:
      throw new Error(`an age is not compared by ${operator}`)
  }
}

/** The condition on the birth date that a person has one of the ages on the day. */
function birthDatesCondition(ages: readonly number[], attribute: Attribute, day: string): Predicate {
  const values = ages.flatMap((age) => findBirthInterval(age, day) ?? [])
  const [only] = values
  if (only === undefined) return { is: 'compare', attribute, operator: 'lt', value: EARLIEST_DATE_INTERVAL, until: day }
  if (values.length === 1) return { is: 'compare', attribute, operator: 'eq', value: only, until: day }
  return { is: 'in', attribute, values, until: day }
}

/** The birth dates of all who are n years old on `day`; null when these dates are before the year 1. */
function findBirthInterval(n: number, day: string): Interval | null {
  const to = findLastBirthDate(n, day)
  if (to === null) return null
  const before = findLastBirthDate(n + 1, day)
  const from = before === null ? EARLIEST_DATE : new Date(Date.parse(`${before}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10)
  return { from, to }
}

/** The latest birth date of persons who are n years old on `day`, or older; null when it is before the year 1. */
function findLastBirthDate(n: number, day: string): string | null {
  const year = Number(day.slice(0, 4)) - n
  if (year < 1) return null
  const dayOfYear = day.slice(4)
  // If `day` is 29 February and the birth year has no such day, the last birth date is 28 February: a person who was born on
  // 1 March reaches the age tomorrow.
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const birthMonthAndDay = dayOfYear === '-02-29' && !isLeapYear ? '-02-28' : dayOfYear
  return `${String(year).padStart(4, '0')}${birthMonthAndDay}`
}
