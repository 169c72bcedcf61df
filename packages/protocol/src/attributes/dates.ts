/**
 * Reads calendar days and instants as records write them. A written time zone moves an instant to UTC, but never a day:
 * the day stays as written. A part of a date, such as 1985-06, is an interval of days. A text with an impossible day or
 * time, such as 31 February, has no value.
 */
import { daysInMonth } from '../timestamps.ts'

/** The days that a written date may mean, first and last, as YYYY-MM-DD. For one day they are equal. */
export interface DayInterval {
  readonly from: string
  readonly to: string
}

/** Matches 1985, 1985-06, 1985-06-12 and 1985-06-12T10:20, the last also with seconds, fraction and zone. */
const ISO_DATE_PATTERN =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?)?)?$/
/** Matches 12.06.1985: day, month, year. */
const DOTTED_DATE_PATTERN = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/
const MAX_DATE_CHARACTERS = 64
const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const TWO_DIGIT_TEXTS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/** The instants that a written time may mean, first and last, in ISO form, UTC, with milliseconds. */
export interface InstantInterval {
  readonly from: string
  readonly to: string
}

/** The parts of a written date that exists. For a whole month, `day` is 0; for a whole year, `month` is 0 too. */
interface DateParts {
  readonly year: number
  readonly month: number
  readonly day: number
  /** True when the text has a time of day, and not only a date. */
  readonly timed: boolean
  /** The time of day, as milliseconds since midnight, in the written zone. */
  readonly time: number
  /** Minutes by which the zone is ahead of UTC; 0 when none was written. */
  readonly offset: number
}

/** The days that a text names; null when it is not a date. "1985-06" is all of June; "2014-06-01T04:10:00+05:00" is 1 June. */
export function dayInterval(text: string): DayInterval | null {
  const date = findDateInText(text)
  return date === null ? null : dayIntervalOfDate(date)
}

function dayIntervalOfDate({ year, month, day }: DateParts): DayInterval {
  if (month === 0) return { from: dayText(year, 1, 1), to: dayText(year, 12, 31) }
  if (day === 0) return { from: dayText(year, month, 1), to: dayText(year, month, daysInMonth(year, month)) }
  const only = dayText(year, month, day)
  return { from: only, to: only }
}

/**
 * The instant that a text names, in ISO form, UTC, with milliseconds: such texts sort by time. A missing zone means UTC. Without
 * a time, day or month, it is the first instant of the day, month or year. Digits after the milliseconds are cut. Null when the
 * text is not a date, or the instant is outside of the years 1 to 9999 in UTC.
 */
export function readInstantText(text: string): string | null {
  const date = findDateInText(text)
  return date === null ? null : instantTextOf(date)
}

/**
 * The interval of instants that a text names. With a time of day, it is one instant. Without, it is from the first to the last
 * instant of the day, month or year, in UTC. Null as in `readInstantText`.
 */
export function instantInterval(text: string): InstantInterval | null {
  const date = findDateInText(text)
  if (date === null) return null
  if (!date.timed) {
    const { from, to } = dayIntervalOfDate(date)
    return { from: `${from}T00:00:00.000Z`, to: `${to}T23:59:59.999Z` }
  }
  const instant = instantTextOf(date)
  return instant === null ? null : { from: instant, to: instant }
}

function instantTextOf(date: DateParts): string | null {
  const [month, day] = [Math.max(date.month, 1), Math.max(date.day, 1)]
  // Most times are on the written day in UTC too. Their text is made here, because toISOString is slow.
  const time = date.time - date.offset * MINUTE_MS
  if (time >= 0 && time < DAY_MS) return `${dayText(date.year, month, day)}T${timeOfDayText(time)}Z`
  // Date.UTC would read the years 1 to 99 as 1901 to 1999.
  const instant = new Date(new Date(0).setUTCFullYear(date.year, month - 1, day) + time)
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999 ? instant.toISOString() : null
}

function dayText(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${TWO_DIGIT_TEXTS[month]}-${TWO_DIGIT_TEXTS[day]}`
}

function timeOfDayText(time: number): string {
  const seconds = Math.floor(time / 1000)
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const milliseconds = String(time % 1000).padStart(3, '0')
  return `${TWO_DIGIT_TEXTS[hour]}:${TWO_DIGIT_TEXTS[minute]}:${TWO_DIGIT_TEXTS[second]}.${milliseconds}`
}

/** The date in a text, in ISO form or as DD.MM.YYYY; null when the text is not a date, or the date does not exist. */
function findDateInText(text: string): DateParts | null {
  if (text.length > MAX_DATE_CHARACTERS) return null
  const trimmed = text.trim()
  const iso = ISO_DATE_PATTERN.exec(trimmed)
  if (iso !== null)
    return findDateOfParts(iso[1], iso[2], iso[3], readTimeOfDay(iso), readZoneOffsetMinutes(iso[8]), iso[4] !== undefined)
  const dotted = DOTTED_DATE_PATTERN.exec(trimmed)
  if (dotted === null || Number(dotted[1]) === 0 || Number(dotted[2]) === 0) return null
  return findDateOfParts(dotted[3], dotted[2], dotted[1], 0, 0, false)
}

/** The date of these parts; null when its day, time or zone does not exist, also for a written month or day 00. */
function findDateOfParts(
  yearText: string | undefined,
  monthText: string | undefined,
  dayText: string | undefined,
  time: number | null,
  offset: number | null,
  timed: boolean,
): DateParts | null {
  const [year, month, day] = [Number(yearText), Number(monthText ?? 0), Number(dayText ?? 0)]
  if (time === null || offset === null || year < 1 || month > 12) return null
  if ((monthText !== undefined && month === 0) || (dayText !== undefined && day === 0)) return null
  if (day > 0 && day > daysInMonth(year, month)) return null
  return { year, month, day, timed, time, offset }
}

function readTimeOfDay(iso: RegExpExecArray): number | null {
  if (iso[4] === undefined) return 0
  const [hour, minute, second] = [Number(iso[4]), Number(iso[5]), Number(iso[6] ?? 0)]
  // A leap second becomes the first instant of the next minute.
  if (hour > 23 || minute > 59 || second > 60) return null
  const milliseconds = second === 60 ? 0 : Number((iso[7] ?? '').slice(0, 3).padEnd(3, '0'))
  return ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds
}

/** The minutes by which a zone is ahead of UTC: 0 without a zone, null for an impossible one such as +25:00. */
function readZoneOffsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', ''))]
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
