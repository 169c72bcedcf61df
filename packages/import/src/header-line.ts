/** Refuses a table whose first line has no names of columns. That line may have a person's data, so no message shows it. */
import { dayInterval } from '@rollcall/protocol'
import { dateFormatsReadingAll } from './find-date-format.ts'
import { ImportError } from './import-error.ts'
import type { HeaderAndRows } from './propose-mapping.ts'
import type { ProposedColumn } from './proposed-column.ts'

/**
 * Refuses a table whose first line looks like a row of values, or has no name that is known.
 * @throws ImportError its message has no cell of that line
 */
export function refuseWithoutHeader({ header, rows }: HeaderAndRows, columns: readonly ProposedColumn[]): void {
  const at = header.findIndex((cell, place) => isLikelyValue(cell.trim(), rows, place))
  if (at !== -1) {
    throw new ImportError(
      `the file seems to have no header line: cell ${at + 1} of its first line looks like a value, and is not shown. ` +
        'Write a line with the names of the columns above the rows',
    )
  }
  if (columns.some(({ state }) => state !== 'unmapped')) return
  throw new ImportError(
    'the file seems to have no header line: no name in its first line is known, and none is shown. Write a line with the ' +
      'names of the columns above the rows; if there is one, write the mapping by hand (docs/import.md)',
  )
}

/**
 * True when a cell looks like a value: a number, a date, a telephone number, an e-mail address, or a text that another
 * row has in this column.
 */
function isLikelyValue(cell: string, rows: HeaderAndRows['rows'], place: number): boolean {
  if (cell === '') return false
  if (/\d/.test(cell) && !/\p{L}{2}/u.test(cell)) return true
  if (/^[^@\s]+@[^@\s]+$/.test(cell)) return true
  if (dayInterval(cell) !== null || dateFormatsReadingAll([cell]).length > 0) return true
  return rows.some((row) => row[place]?.trim() === cell)
}
