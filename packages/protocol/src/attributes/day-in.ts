/** The calendar day that it is somewhere, by the time zones that the engine knows. */

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Made once for each zone: making one costs a hundred times its use. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
    formatters.set(timeZone, formatter)
  }
  return formatter
}

/**
 * The day in `timeZone` at `instant` (milliseconds since 1970 UTC), as YYYY-MM-DD.
 * @throws RangeError for what is no time zone
 */
export function dayIn(timeZone: string, instant: number): string {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {}
  for (const { type, value } of formatterOf(timeZone).formatToParts(instant)) parts[type] = value
  return `${parts.year?.padStart(4, '0')}-${parts.month}-${parts.day}`
}

/** Whether `name` is a time zone, such as `Africa/Nairobi` or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
