/**
 * Finds out whether the first line of a table has names of columns. If not, it has data of a person, which must not be
 * shown.
 */
import { dayInterval } from '@rollcall/protocol'
import { formatsOfAll } from './find-date-format.ts'
import { ImportError } from './import-error.ts'
import type { ProposedColumn, Table } from './propose-mapping.ts'

/** @throws ImportError the line looks like a row; the message has no cell of it */
export function refuseWithoutHeader({ header, rows }: Table, columns: readonly ProposedColumn[]): void {
  const at = header.findIndex((cell, place) => isValue(cell.trim(), rows, place))
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

/** Numbers, dates, telephone numbers, e-mail addresses, and texts that occur in another row of the same column. */
function isValue(cell: string, rows: Table['rows'], place: number): boolean {
  if (cell === '') return false
  if (/\d/.test(cell) && !/\p{L}{2}/u.test(cell)) return true
  if (/^[^@\s]+@[^@\s]+$/.test(cell)) return true
  if (dayInterval(cell) !== null || formatsOfAll([cell]).length > 0) return true
  return rows.some((row) => row[place]?.trim() === cell)
}
