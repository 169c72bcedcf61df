/** Reads the dates of a column whose values may have several formats. */
import { dayInterval } from '@rollcall/protocol'
import { type DateReader, type DayWriter, findDayWriter, parseDateFormat } from './date-format.ts'

/** Reads the dates of a column that has one format or several, and writes days in these formats. */
export interface DateFormats {
  readonly read: DateReader
  /** The rule that a text breaks when it cannot be read as a date, for messages. */
  readonly rule: string
  /**
   * Returns every text that one of the formats reads as this day, also a text that another one reads as a different day; null
   * when a day has too many spellings.
   */
  readonly write: DayWriter | null
}

/**
 * Makes a reader of several formats. It returns null for a text that two formats read as different days.
 * @returns the reader, or the rule that a format breaks
 */
export function parseDateFormats(given: string | readonly string[]): DateFormats | string {
  const formats = typeof given === 'string' ? [given] : given
  const readers: DateReader[] = []
  for (const format of formats) {
    const read = parseDateFormat(format)
    if (typeof read === 'string') return formats.length === 1 ? read : `${format}: ${read}`
    readers.push(read)
  }
  const writers = formats.map(findDayWriter)
  const write: DayWriter | null = writers.includes(null)
    ? null
    : (day) => [...new Set(writers.flatMap((one) => one?.(day) ?? []))]
  const [only] = readers
  if (only !== undefined && readers.length === 1) {
    return { read: only, rule: `must be a date of the format ${formats[0]}`, write }
  }
  return {
    read: (text) => {
      const found = readers.flatMap((read) => read(text) ?? [])
      const days = new Set(found.map((one) => dayInterval(one)?.from))
      return days.size === 1 ? (found[0] ?? null) : null
    },
    rule: `must be a date of one of the formats ${formats.join(', ')}, and not one that they read as different days`,
    write,
  }
}
