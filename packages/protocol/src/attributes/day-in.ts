/** Finds the calendar day in a time zone, with the time zones of the JavaScript engine. */

interface CachedZone {
  readonly formatter: Intl.DateTimeFormat
  /** The days that were computed before, by the second (counted from 1970 UTC) for which the day was asked. */
  readonly days: Map<number, string>
}

const zonesByName = new Map<string, CachedZone>()

const YEAR_10000 = Date.UTC(10_000, 0, 1)

/** Makes a formatter once for each zone, because making one costs a hundred times its use. */
function cachedZoneOf(timeZone: string): CachedZone {
  let zone = zonesByName.get(timeZone)
  if (zone === undefined) {
    const formatter = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
    zone = { formatter, days: new Map() }
    zonesByName.set(timeZone, zone)
  }
  return zone
}

/** The most results that are remembered for a zone, one for each second. When there are so many, all are forgotten. */
const MOST_CACHED_RESULTS = 1_000

/**
 * The day in `timeZone` at `instant` (milliseconds since 1970 UTC), as YYYY-MM-DD. The results for recent seconds are
 * remembered, because most calls ask for now, or for the same instants again, and a day never begins inside a second.
 * @throws RangeError the time zone is unknown
 */
export function dayIn(timeZone: string, instant: number): string {
  const { formatter, days } = cachedZoneOf(timeZone)
  const second = Math.floor(instant / 1_000)
  const known = days.get(second)
  if (known !== undefined) return known
  // For UTC, the formatter takes many times as long as `toISOString`.
  const isPlain = timeZone === 'UTC' && instant >= 0 && instant < YEAR_10000
  const day = isPlain ? new Date(instant).toISOString().slice(0, 10) : formatDay(formatter, instant)
  if (days.size >= MOST_CACHED_RESULTS) days.clear()
  days.set(second, day)
  return day
}

function formatDay(formatter: Intl.DateTimeFormat, instant: number): string {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {}
  for (const { type, value } of formatter.formatToParts(instant)) parts[type] = value
  return `${parts.year?.padStart(4, '0')}-${parts.month}-${parts.day}`
}

/** True when the JavaScript engine knows the time zone `name`, such as `Africa/Nairobi` or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
