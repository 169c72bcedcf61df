/** Reads times in messages: RFC 3339 date-times with a zone (spec "Resources and their fields", D24). */

// RFC 3339, 5.6: "T" and "Z" may be lower case, seconds are required, a fraction may have any number of digits.
const DATE_TIME_PATTERN = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}:\d{2}))$/
const ZONELESS_TIME_PATTERN = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/
const DIGIT_ZERO = 0x30
const MINUTE_MILLISECONDS = 60_000
const MINUTES_IN_DAY = 1440
const YEAR_1_MS = Date.parse('0001-01-01T00:00:00Z')
const YEAR_10000_MS = Date.UTC(10_000, 0, 1)

/**
 * The instant of a time in milliseconds since 1970 UTC. Null when the text is not an RFC 3339 date-time with a zone, or
 * the day or time does not exist, or is outside of the years 1 to 9999 in UTC. A leap second (23:59:60 UTC) becomes the first
 * instant of the next minute; digits beyond milliseconds are cut.
 */
export function timestampInstant(text: string): number | null {
  const parts = DATE_TIME_PATTERN.exec(text)
  if (parts === null) return null
  // All parts up to the seconds have fixed positions. Reading digits there takes half the time of capturing groups.
  const [year, month, day] = [
    100 * readTwoDigits(text, 0) + readTwoDigits(text, 2),
    readTwoDigits(text, 5),
    readTwoDigits(text, 8),
  ]
  const [hour, minute, second] = [readTwoDigits(text, 11), readTwoDigits(text, 14), readTwoDigits(text, 17)]
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null
  if (hour > 23 || minute > 59 || second > 60) return null

  const [, fraction = '', sign, offsetText = '00:00'] = parts
  const [offsetHour, offsetMinute] = [readTwoDigits(offsetText, 0), readTwoDigits(offsetText, 3)]
  if (offsetHour > 23 || offsetMinute > 59) return null
  const offset = (sign === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  const utcMinute = hour * 60 + minute - offset
  const lastOfDay = (utcMinute + MINUTES_IN_DAY + 1) % MINUTES_IN_DAY === 0
  if (second === 60 && !lastOfDay) return null

  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day)
  const milliseconds = second === 60 ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))
  const instant = midnight + utcMinute * MINUTE_MILLISECONDS + second * 1000 + milliseconds
  return instant >= YEAR_1_MS && instant < YEAR_10000_MS ? instant : null
}

/** True for an existing date and time in RFC 3339 form with a zone. */
export function isTimestamp(text: string): boolean {
  return timestampInstant(text) !== null
}

/** Matches the forms of a time that are accepted in answers and callbacks. */
const LENIENT_DATE_TIME_PATTERN = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)([Zz]|([+-]\d{2}):?(\d{2}))?$/

/**
 * Rewrites a time in an answer or a callback to RFC 3339. The time may have a space in place of "T", a zone without a colon, or
 * no zone: UTC is then assumed, and `zone` is `missing`. Other texts are returned unchanged.
 */
export function normaliseTimestamp(text: string): { readonly text: string; readonly zone: 'given' | 'missing' } {
  const parts = LENIENT_DATE_TIME_PATTERN.exec(text)
  if (isTimestamp(text) || parts === null) return { text, zone: 'given' }
  const [, date, time, zone, hours, minutes] = parts
  const made = `${date}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`
  if (!isTimestamp(made)) return { text, zone: 'given' }
  return { text: made, zone: zone === undefined ? 'missing' : 'given' }
}

/**
 * True when a text is a time that is at most `window` seconds before or after an instant. With a `window` of 0 nothing is
 * checked, and every text gives true.
 * @param at the instant, in milliseconds since 1970 UTC
 */
export function isWithinWindow(text: string, window: number, at: number): boolean {
  if (window === 0) return true
  const instant = timestampInstant(text)
  return instant !== null && Math.abs(at - instant) <= window * 1_000
}

/**
 * True for a text in the form of a date and time without a zone. The refusal of such a text can then say that the zone is
 * missing.
 */
export function isTimeWithoutZone(text: string): boolean {
  return ZONELESS_TIME_PATTERN.test(text)
}

/** The number that two digits in a text make. */
function readTwoDigits(text: string, at: number): number {
  return 10 * (text.charCodeAt(at) - DIGIT_ZERO) + text.charCodeAt(at + 1) - DIGIT_ZERO
}

/** The number of days in a month of a year. @param month 1 to 12 */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
