/** Reads cron expressions in the forms that subscribers use, and writes them in the one form that croner reads. */

import { daysInMonth } from '@rollcall/protocol'

/** Thrown when a cron expression cannot be read. The message has the broken rule, never the expression. */
export class CronProblem extends Error {
  override readonly name = 'CronProblem'
}

interface CronFieldRule {
  readonly name: string
  readonly min: number
  readonly max: number
  /** Names that may replace numbers in a field, such as JAN; the first name stands for the number `first`. */
  readonly names?: readonly string[]
  readonly first?: number
  /** True for the two fields of days: `?` means `*`, and `L`, `W` and `#` have an error message of their own. */
  readonly ofDays?: true
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const SECOND_FIELD: CronFieldRule = { name: 'second', min: 0, max: 59 }
const MINUTE_FIELD: CronFieldRule = { name: 'minute', min: 0, max: 59 }
const HOUR_FIELD: CronFieldRule = { name: 'hour', min: 0, max: 23 }
const DAY_FIELD: CronFieldRule = { name: 'day of month', min: 1, max: 31, ofDays: true }
const MONTH_FIELD: CronFieldRule = { name: 'month', min: 1, max: 12, names: MONTHS, first: 1 }
const YEAR_FIELD: CronFieldRule = { name: 'year', min: 1970, max: 2099 }
/** In a normal expression, Sunday is 0 or 7. */
const WEEKDAY_FIELD: CronFieldRule = { name: 'day of week', min: 0, max: 7, names: WEEKDAYS, first: 0, ofDays: true }
/** In a Quartz expression, Sunday is 1. */
const QUARTZ_WEEKDAY_FIELD: CronFieldRule = { ...WEEKDAY_FIELD, min: 1, first: 1 }

/** Words that may replace an expression. A week begins on Sunday, as in cron. */
const EXPRESSION_BY_WORD: ReadonlyMap<string, string> = new Map([
  ['hourly', '0 0 * * * * *'],
  ['daily', '0 0 0 * * * *'],
  ['weekly', '0 0 0 * * 0 *'],
  ['monthly', '0 0 0 1 * * *'],
])

const MOST_CRON_CHARACTERS = 256

/** The values of one field in ascending order; null for every value. */
type CronFieldValues = readonly number[] | null

/** A schedule in the local time of a zone. */
export interface Cron {
  readonly second: CronFieldValues
  readonly minute: CronFieldValues
  readonly hour: CronFieldValues
  /** When both `day` and `weekday` are set, a day needs to match only one of them. */
  readonly day: CronFieldValues
  readonly month: CronFieldValues
  /** 0 is Sunday, 6 is Saturday. */
  readonly weekday: CronFieldValues
  readonly year: CronFieldValues
}

const CRON_FIELD_ORDER = ['second', 'minute', 'hour', 'day', 'month', 'weekday', 'year'] as const

/** Reads a cron expression of 5, 6 or 7 fields, or a word such as `daily`. @throws CronProblem */
export function readCron(text: string): Cron {
  if (text.length > MOST_CRON_CHARACTERS) throw new CronProblem(`must have at most ${MOST_CRON_CHARACTERS} characters`)
  const expression = EXPRESSION_BY_WORD.get(text.trim().toLowerCase()) ?? text
  const written = expression.trim().split(/\s+/)
  if (written.length < 5 || written.length > 7) {
    throw new CronProblem(`must have 5, 6 or 7 fields, or be one of ${[...EXPRESSION_BY_WORD.keys()].join(', ')}`)
  }
  // An expression of five fields begins with the minute, so its second is 0.
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = '', year = '*'] =
    written.length === 5 ? ['0', ...written] : written
  // An expression of Quartz has seven fields, of which the last is the year, or six fields with a `?`.
  const isQuartz = expression === text && (written.length === 7 || (written.length === 6 && written.includes('?')))
  const weekdays = readField(isQuartz ? QUARTZ_WEEKDAY_FIELD : WEEKDAY_FIELD, weekday)
  const fromSunday = weekdays && sortUnique(weekdays.map((number) => (isQuartz ? number - 1 : number % 7)))
  return {
    second: nullIfAllValues(SECOND_FIELD, readField(SECOND_FIELD, second)),
    minute: nullIfAllValues(MINUTE_FIELD, readField(MINUTE_FIELD, minute)),
    hour: nullIfAllValues(HOUR_FIELD, readField(HOUR_FIELD, hour)),
    ...combineDayFields(readField(DAY_FIELD, day), fromSunday),
    month: nullIfAllValues(MONTH_FIELD, readField(MONTH_FIELD, month)),
    year: nullIfAllValues(YEAR_FIELD, readField(YEAR_FIELD, year)),
  }
}

/** The schedule as the one form of expression that croner reads. Equal texts mean equal times. */
export const cronText = (cron: Cron): string => CRON_FIELD_ORDER.map((name) => cron[name]?.join(',') ?? '*').join(' ')

/**
 * Combines the two fields of days, where null means `*`. If neither is null, a day needs to be in only one of them: so every day
 * matches when one of them lists all values.
 */
function combineDayFields(day: CronFieldValues, weekday: CronFieldValues): Pick<Cron, 'day' | 'weekday'> {
  const isEveryDay = day?.length === 31 || weekday?.length === 7
  return isEveryDay && day !== null && weekday !== null
    ? { day: null, weekday: null }
    : { day: nullIfAllValues(DAY_FIELD, day), weekday: weekday?.length === 7 ? null : weekday }
}

const nullIfAllValues = ({ min, max }: CronFieldRule, values: CronFieldValues): CronFieldValues =>
  values?.length === max - min + 1 ? null : values

const sortUnique = (numbers: readonly number[]): readonly number[] => [...new Set(numbers)].sort((one, other) => one - other)

/** One part of a field: `*`, `5`, `1-5`, `MON-FRI`, or one of these with a step, such as `0/15`. */
const FIELD_PART_PATTERN = /^(?:(\*)|([a-z]{3}|\d{1,4})(?:-([a-z]{3}|\d{1,4}))?)(?:\/(\d{1,4}))?$/i

function readField(field: CronFieldRule, text: string): CronFieldValues {
  if (text === '*' || (text === '?' && field.ofDays)) return null
  if (text.includes('?')) throw fieldProblem(field, 'may have ? only in the two fields of days, and alone')
  return sortUnique(text.split(',').flatMap((part) => readFieldPart(field, part)))
}

function readFieldPart(field: CronFieldRule, text: string): readonly number[] {
  const part = FIELD_PART_PATTERN.exec(text)
  if (part === null) throw fieldPartProblem(field, text)
  const [, every, first = '', last, stepText] = part
  const { min, max } = field
  const from = every === undefined ? readCronNumber(field, first, text) : min
  // A start with a step but without an end, such as `5/10`, runs to the end of the field.
  const end = every === undefined && stepText === undefined ? from : max
  const to = last === undefined ? end : readCronNumber(field, last, text)
  if (to < from) throw fieldProblem(field, 'must not have a range that runs backwards')
  const step = Number(stepText ?? 1)
  if (step < 1 || step > max - min + 1) throw fieldProblem(field, `must have steps from 1 to ${max - min + 1}`)
  return range(0, Math.floor((to - from) / step)).map((index) => from + index * step)
}

function readCronNumber(field: CronFieldRule, text: string, part: string): number {
  const { min, max, names = [], first = 0 } = field
  const named = names.indexOf(text.toUpperCase())
  const value = named >= 0 ? named + first : Number(text)
  if (Number.isNaN(value)) throw fieldPartProblem(field, part)
  if (value < min || value > max) throw fieldProblem(field, `must have numbers from ${min} to ${max}`)
  return value
}

function fieldPartProblem(field: CronFieldRule, part: string): CronProblem {
  if (field.ofDays && /[lw#]/i.test(part)) {
    return fieldProblem(field, 'must not have L, W or #: name the days by numbers')
  }
  const { min, max, names } = field
  const named = names === undefined ? '' : `, or names such as ${names[1]}`
  return fieldProblem(field, `must have numbers from ${min} to ${max}${named}, with "," "-" "/" and "*"`)
}

const fieldProblem = ({ name }: CronFieldRule, rule: string): CronProblem => new CronProblem(`its ${name} field ${rule}`)

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

/** The smallest number of seconds between two runs, as if the schedule had runs on every day. */
export function shortestGapSeconds({ second, minute, hour }: Cron): number {
  const seconds = cronValueDistances(second, MINUTE_SECONDS)
  const minutes = cronValueDistances(minute, 60)
  const hours = cronValueDistances(hour, 24)
  // The seconds from the first to the last run of a minute, an hour and a day. The rest of the minute, hour or day, until the
  // first run of the next one, is a gap too.
  const inMinute = seconds.last
  const inHour = minutes.last * MINUTE_SECONDS + inMinute
  const inDay = hours.last * HOUR_SECONDS + inHour
  return Math.min(seconds.step, minutes.step * MINUTE_SECONDS - inMinute, hours.step * HOUR_SECONDS - inHour, DAY_SECONDS - inDay)
}

/** `step`: the smallest distance between neighbouring values. `last`: the distance from the first to the last. */
function cronValueDistances(values: CronFieldValues, count: number): { readonly step: number; readonly last: number } {
  if (values === null) return { step: 1, last: count - 1 }
  const steps = values.slice(1).map((value, index) => value - (values[index] ?? 0))
  return { step: Math.min(Number.POSITIVE_INFINITY, ...steps), last: (values.at(-1) ?? 0) - (values[0] ?? 0) }
}

/** How many years after `first` are tested: eight years in a row, even around 1900, have a leap year, so a 29 February. */
const LEAP_YEAR_WITHIN_YEARS = 8

/** True when the schedule has at least one day from the first to the last year. */
export function hasRunDay({ day, month, weekday, year }: Cron, first: number, last: number): boolean {
  if (weekday !== null || day === null) return year === null || year.some((one) => one >= first && one <= last)
  const months = month ?? range(1, 12)
  const years = year?.filter((one) => one >= first && one <= last)
  return (years ?? range(first, Math.min(last, first + LEAP_YEAR_WITHIN_YEARS))).some((inYear) =>
    months.some((inMonth) => day.some((number) => number <= daysInMonth(inYear, inMonth))),
  )
}

const range = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index)
