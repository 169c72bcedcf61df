/** Finds the date formats that read the values of a column. */
import { dayInterval } from '@rollcall/protocol'
import { parseDateFormat } from './date-format.ts'

/** The formats that are tried. If two of them read the values differently, a person must decide. */
const CANDIDATE_FORMATS = [
  ...['dd/MM/yyyy', 'MM/dd/yyyy', 'd/M/yyyy', 'M/d/yyyy', 'yyyy/MM/dd', 'dd-MM-yyyy', 'MM-dd-yyyy', 'd-M-yyyy'],
  ...['M-d-yyyy', 'dd MM yyyy', 'yyyyMMdd', 'ddMMyyyy', 'MMddyyyy', 'dd MMM yyyy', 'd MMM yyyy', 'dd-MMM-yyyy'],
  ...['d-MMM-yyyy', 'dd/MMM/yyyy', 'd MMMM yyyy', 'MMM d, yyyy', 'MMMM d, yyyy', 'MM.dd.yyyy'],
  ...['dd/MM/yyyy HH:mm', 'dd/MM/yyyy HH:mm:ss', 'MM/dd/yyyy HH:mm', 'MM/dd/yyyy HH:mm:ss'],
  ...['yyyy-MM-dd HH:mm', 'yyyy-MM-dd HH:mm:ss', 'yyyy/MM/dd HH:mm:ss'],
] as const

/** True when each value is a date, a date-time or a part of a date, such as 1985, that needs no format. */
export const areIsoDates = (values: readonly string[]): boolean => values.every((value) => dayInterval(value) !== null)

/** The formats that read every value. Of formats that read all values alike, only the first. */
export const dateFormatsReadingAll = (values: readonly string[]): readonly string[] =>
  firstFormatOfEachDateOrder(CANDIDATE_FORMATS.filter((format) => values.every((value) => isReadableByFormat(format, value))))

/**
 * The formats that read the most values, and the number of these values. If at least as many values are ISO dates, `formats` is
 * `[null]`: ISO dates need no format. `formats` is empty when no value can be read.
 */
export function dateFormatsReadingMost(values: readonly string[]): {
  readonly formats: readonly (string | null)[]
  readonly most: number
} {
  const counts = CANDIDATE_FORMATS.map(
    (format) => [format, values.filter((value) => isReadableByFormat(format, value)).length] as const,
  )
  const most = Math.max(...counts.map(([, count]) => count))
  const asWritten = values.filter((value) => dayInterval(value) !== null).length
  if (asWritten >= most) return { formats: asWritten === 0 ? [] : [null], most: asWritten }
  return { formats: firstFormatOfEachDateOrder(counts.flatMap(([format, count]) => (count === most ? [format] : []))), most }
}

const READER_BY_FORMAT: ReadonlyMap<string, ReturnType<typeof parseDateFormat>> = new Map(
  CANDIDATE_FORMATS.map((format) => [format, parseDateFormat(format)]),
)

function isReadableByFormat(format: string, value: string): boolean {
  const reader = READER_BY_FORMAT.get(format)
  return typeof reader === 'function' && reader(value) !== null
}

/** For each order of year, month and day, the first of the formats with this order: formats of one order read values alike. */
function firstFormatOfEachDateOrder(formats: readonly string[]): readonly string[] {
  const firsts = new Map<string, string>()
  for (const format of formats) {
    // Each letter once, such as dMy: the same text for d/M/yyyy, dd/MM/yyyy and d MMM yyyy.
    const order = format.replace(/[^dMy]/g, '').replace(/(.)\1*/g, '$1')
    if (!firsts.has(order)) firsts.set(order, format)
  }
  return [...firsts.values()]
}

/** Returns 3 February 2001, 14:30:00 as a text in a format, as an example. */
export const exampleDate = (format: string): string =>
  format
    .replace('MMMM', 'February')
    .replace('MMM', 'Feb')
    .replace('yyyy', '2001')
    .replace('HH', '14')
    .replace('mm', '30')
    .replace('ss', '00')
    .replace(/dd|d/, (token) => (token === 'dd' ? '03' : '3'))
    .replace(/MM|\bM\b/, (token) => (token === 'MM' ? '02' : '2'))
