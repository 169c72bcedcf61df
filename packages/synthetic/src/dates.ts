/** Computes with dates as day numbers (days since 1970-01-01), and makes texts of dates as documents have them. */

const DAY_MS = 86_400_000
const CENSUS_YEAR = 2025

/**
 * The last day of the population's history: in its documents nobody is born, and nothing is registered, after it. It is
 * fixed, because documents must not depend on the clock. Events of `lifeOf` happen on the day that their caller gives.
 */
export const CENSUS_DAY = dayNumber(CENSUS_YEAR, 12, 31)

/** The day number of a date. A day beyond the end of its month is a day of the next month. */
export function dayNumber(year: number, month: number, day: number): number {
  return Math.floor(Date.UTC(year, month - 1, day) / DAY_MS)
}

/** The numbers 0 to 99 with two digits. Most formatted texts are dates, and padding each number would be slow. */
const TWO_DIGIT_TEXTS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))

/**
 * Returns a day number as `YYYY-MM-DD`. It computes with years that begin on 1 March, so that a leap day is the last day of its
 * year; four centuries have 146,097 days. `Date#toISOString` would be much slower.
 */
export function isoDay(day: number): string {
  const sinceMarch = day + 719_468
  const era = Math.floor(sinceMarch / 146_097)
  const dayOfEra = sinceMarch - era * 146_097
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const yearDays = 365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100)
  const dayOfYear = dayOfEra - yearDays
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  return `${year}-${TWO_DIGIT_TEXTS[month]}-${TWO_DIGIT_TEXTS[dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1]}`
}

/** Returns a day number and a second of the day (0 to 86,399) as `YYYY-MM-DDTHH:MM:SSZ`. */
export function isoTime(day: number, second: number): string {
  const hour = TWO_DIGIT_TEXTS[Math.floor(second / 3600)]
  const minute = TWO_DIGIT_TEXTS[Math.floor(second / 60) % 60]
  return `${isoDay(day)}T${hour}:${minute}:${TWO_DIGIT_TEXTS[second % 60]}Z`
}

/** Returns a full date as `DD.MM.YYYY`, and a partial date unchanged. */
export function toDottedDate(date: string): string {
  const [year, month, day] = date.split('-')
  return day === undefined ? date : `${day}.${month}.${year}`
}

/** The age in completed years on CENSUS_DAY, the last day of a year: all birthdays of that year have passed. */
export function ageAtCensus(birthDay: number): number {
  return CENSUS_YEAR - Number(isoDay(birthDay).slice(0, 4))
}
