/**
 * Calendar days and instants as records write them. No time zone ever shifts a day. Partial days are intervals. A text
 * without a real day or time, such as 31 February, has no value.
 */
import { daysInMonth } from '../timestamps.ts'

/** The days that a written date may mean, both ends included, as YYYY-MM-DD; one day has `from` = `to`. */
export interface DayInterval {
  readonly from: string
  readonly to: string
}

/** 1985, 1985-06, 1985-06-12, 1985-06-12T10:20, with seconds, fraction and zone where they are given. */
const ISO =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?)?)?$/
/** 12.06.1985: day, month, year. */
const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/
const MAX_DATE_CHARACTERS = 64
const MINUTE = 60_000
const DAY = 1440 * MINUTE
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/** The instants that a written time may mean, both ends included, as ISO UTC texts to the millisecond. */
export interface InstantInterval {
  readonly from: string
  readonly to: string
}

/** A date in its written parts, each within its range; `day` 0 means the whole month, `month` 0 the whole year. */
interface Written {
  readonly year: number
  readonly month: number
  readonly day: number
  /** Whether a time of day was written. */
  readonly timed: boolean
  /** Milliseconds since the day began, by the clock of the zone. */
  readonly time: number
  /** Minutes east of UTC; 0 when none was written. */
  readonly offset: number
}

/** The days that a text names as a date; "1985-06" is all of June, "2014-06-01T04:10:00+05:00" is 1 June. */
export function dayInterval(text: string): DayInterval | null {
  const date = written(text)
  return date === null ? null : daysOf(date)
}

function daysOf({ year, month, day }: Written): DayInterval {
  if (month === 0) return { from: dayText(year, 1, 1), to: dayText(year, 12, 31) }
  if (day === 0) return { from: dayText(year, month, 1), to: dayText(year, month, daysInMonth(year, month)) }
  const only = dayText(year, month, day)
  return { from: only, to: only }
}

/**
 * The instant that a text names, as an ISO UTC text to the millisecond, so that text order is time order.
 * Without a zone it is read as UTC; a bare or partial date is its first instant; digits beyond milliseconds are cut.
 */
export function instantText(text: string): string | null {
  const date = written(text)
  return date === null ? null : instantOf(date)
}

/** The instants of a text: without a time of day, those of all its days in UTC. */
export function instantInterval(text: string): InstantInterval | null {
  const date = written(text)
  if (date === null) return null
  if (!date.timed) {
    const { from, to } = daysOf(date)
    return { from: `${from}T00:00:00.000Z`, to: `${to}T23:59:59.999Z` }
  }
  const instant = instantOf(date)
  return instant === null ? null : { from: instant, to: instant }
}

function instantOf(date: Written): string | null {
  const [month, day] = [Math.max(date.month, 1), Math.max(date.day, 1)]
  // Nearly every record holds UTC, and toISOString costs more than all the rest of reading one.
  const time = date.time - date.offset * MINUTE
  if (time >= 0 && time < DAY) return `${dayText(date.year, month, day)}T${clockText(time)}Z`
  // Date.UTC would take the years 1 to 99 for 1901 to 1999.
  const instant = new Date(new Date(0).setUTCFullYear(date.year, month - 1, day) + time)
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999 ? instant.toISOString() : null
}

function dayText(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${TWO_DIGITS[month]}-${TWO_DIGITS[day]}`
}

function clockText(time: number): string {
  const seconds = Math.floor(time / 1000)
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const milliseconds = String(time % 1000).padStart(3, '0')
  return `${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[second]}.${milliseconds}`
}

function written(text: string): Written | null {
  if (text.length > MAX_DATE_CHARACTERS) return null
  const trimmed = text.trim()
  const iso = ISO.exec(trimmed)
  if (iso !== null) return checked(iso[1], iso[2], iso[3], timeOf(iso), offsetOf(iso[8]), iso[4] !== undefined)
  const dotted = DOTTED.exec(trimmed)
  if (dotted === null || Number(dotted[1]) === 0 || Number(dotted[2]) === 0) return null
  return checked(dotted[3], dotted[2], dotted[1], 0, 0, false)
}

/** The written parts, if they are a real day and time. A month or day written as 00 is missing. */
function checked(
  yearText: string | undefined,
  monthText: string | undefined,
  dayText: string | undefined,
  time: number | null,
  offset: number | null,
  timed: boolean,
): Written | null {
  const [year, month, day] = [Number(yearText), Number(monthText ?? 0), Number(dayText ?? 0)]
  if (time === null || offset === null || year < 1 || month > 12) return null
  if ((monthText !== undefined && month === 0) || (dayText !== undefined && day === 0)) return null
  if (day > 0 && day > daysInMonth(year, month)) return null
  return { year, month, day, timed, time, offset }
}

function timeOf(iso: RegExpExecArray): number | null {
  if (iso[4] === undefined) return 0
  const [hour, minute, second] = [Number(iso[4]), Number(iso[5]), Number(iso[6] ?? 0)]
  // A leap second is read as the first instant of the next minute.
  if (hour > 23 || minute > 59 || second > 60) return null
  const milliseconds = second === 60 ? 0 : Number((iso[7] ?? '').slice(0, 3).padEnd(3, '0'))
  return ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds
}

function offsetOf(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', ''))]
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
