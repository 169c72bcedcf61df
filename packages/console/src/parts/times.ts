/** Makes texts of times, durations and numbers. */

interface TimeOptions {
  readonly seconds?: boolean
  /** The IANA name of the time zone (default: the reader's). */
  readonly timeZone?: string
}

/** Returns day, month and time as text, and the year if it is not the present one. */
export function shortTime(date: Date, locale: string, { seconds = false, timeZone }: TimeOptions = {}, now = new Date()): string {
  const year = (of: Date) => new Intl.DateTimeFormat(locale, { year: 'numeric', timeZone }).format(of)
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
    ...(seconds && { second: '2-digit' }),
    ...(year(date) !== year(now) && { year: 'numeric' }),
  }).format(date)
}

/** Returns the whole time with its zone as text, and the time in UTC as in logs. */
export function longTime(date: Date, locale: string, { timeZone }: TimeOptions = {}): string {
  const local = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', timeZone }).format(date)
  return `${local} · ${date.toISOString()}`
}

const TIME_UNITS = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** Returns a time relative to now, such as "3 hours ago" or "in 2 days". */
export function relativeTime(date: Date, now: Date, locale: string): string {
  const away = date.getTime() - now.getTime()
  const [unit, length] = TIME_UNITS.find(([, ms]) => Math.abs(away) >= ms) ?? ['second', 1_000]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(Math.trunc(away / length), unit)
}

/** Returns a duration as text, such as "850 ms", "1.4 s" or "3 min". */
export function durationText(ms: number, locale: string): string {
  const number = (value: number, digits: number) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value)
  if (ms < 10) return `${number(ms, 1)} ms`
  if (ms < 1_000) return `${number(ms, 0)} ms`
  if (ms < 120_000) return `${number(ms / 1_000, 1)} s`
  if (ms < 7_200_000) return `${number(ms / 60_000, 0)} min`
  return `${number(ms / 3_600_000, 1)} h`
}

export const numberText = (value: number, locale: string): string => new Intl.NumberFormat(locale).format(value)
