/** Reads CSV (RFC 4180), and makes documents from its rows by a column mapping. */

import { isUtf8 } from 'node:buffer'
import { type CsvRow, RowCutter, splitRow } from '@rollcall/base/files/csv-rows'
import type { ColumnMapping } from './column-mapping.ts'
import { createRowReader, type RowReader } from './row-documents.ts'
import {
  ImportError,
  type ImportSource,
  MAX_ENTRY_BYTES,
  readRemainingEntries,
  type SourceEntry,
  type SourcePosition,
} from './source.ts'

export interface CsvOptions {
  readonly mapping: ColumnMapping
  /** The character between cells; absent: the first row shows it. */
  readonly delimiter?: string
  /** True when the first row has the names of columns; absent: the first row shows it. */
  readonly header?: boolean
  /** Called once, before the first row is returned: `how` has the delimiter, the header and the row reader of the table. */
  readonly described?: (how: DelimiterAndHeader & { readonly rows: RowReader }) => void
}

/** The delimiter of a table, and whether it has a header line. */
export interface DelimiterAndHeader {
  readonly delimiter: string
  /** True with a header line. Without one, columns are called by their numbers, from 1. */
  readonly header: boolean
}

/**
 * Reads the rows after the header. A bad row is reported, and reading continues. A quotation mark within a cell is an ordinary
 * character if the cell does not begin with one.
 * @param source in UTF-8
 * @throws ImportError the header cannot be read, a mapped column is missing, or a row is too long (an unclosed quotation mark)
 */
export async function* readCsv(source: ImportSource, from: SourcePosition, options: CsvOptions): AsyncGenerator<SourceEntry[]> {
  const form = findDelimiterAndHeader(source.head.subarray(source.mark.bytes), options)
  const cutter = new RowCutter({ delimiter: form.delimiter, longest: MAX_ENTRY_BYTES, tooLong: longRowError })
  const table = new CsvTable(form, options)
  yield* readRemainingEntries(source, from, {
    push: (chunk) => cutter.push(chunk).flatMap((row) => table.entry(row)),
    finish: () => cutter.finish().flatMap((row) => table.entry(row)),
  })
}

const longRowError = (line: number): ImportError =>
  new ImportError(`line ${line}: a row is longer than ${MAX_ENTRY_BYTES} bytes; look for a quotation mark that is never closed`)

/** The delimiters that are recognised, and how each is written on the command line. */
const DELIMITERS = [
  { delimiter: ',', name: 'commas', word: "','" },
  { delimiter: ';', name: 'semicolons', word: "';'" },
  { delimiter: '\t', name: 'tabs', word: "$'\\t'" },
  { delimiter: '|', name: 'vertical bars', word: "'|'" },
]

/** The name of a delimiter in plural, such as semicolons. */
export const delimiterName = (delimiter: string): string =>
  DELIMITERS.find((one) => one.delimiter === delimiter)?.name ?? `the character ${delimiter}`

/** Checks a given delimiter. @throws ImportError it is not one ASCII character, or is a quotation mark */
export function checkDelimiter(delimiter: string | undefined): void {
  if (delimiter === undefined || (/^[\t -~]$/.test(delimiter) && delimiter !== '"')) return
  throw new ImportError("--delimiter must be one ASCII character other than a quotation mark, such as ';'")
}

/** The delimiter and header as requested, or else as the first row and the mapped columns show. */
export function findDelimiterAndHeader(
  head: Buffer,
  { mapping, delimiter, header }: Pick<CsvOptions, 'mapping' | 'delimiter' | 'header'>,
): DelimiterAndHeader {
  const forms = (delimiter === undefined ? DELIMITERS.map((one) => one.delimiter) : [delimiter]).map((one) => {
    const cells = readFirstRowCells(head, one)
    return { delimiter: one, cells, fits: hasMappedColumns(mapping, cells) }
  })
  const [first] = forms
  const found =
    forms.find((one) => one.fits) ??
    forms.reduce((best, one) => (one.cells.length > best.cells.length ? one : best), first ?? FALLBACK_CSV_FORM)
  const isByNumber = mapping.targets.every(({ column }) => column === null || /^\d{1,4}$/.test(column))
  return { delimiter: found.delimiter, header: header ?? (found.fits || !isByNumber) }
}

/** Stands in for a missing first form. There is always one, but TypeScript does not know this. */
const FALLBACK_CSV_FORM = { delimiter: ',', cells: [] as readonly string[], fits: false }

function readFirstRowCells(head: Buffer, delimiter: string): readonly string[] {
  const cutter = new RowCutter({ delimiter, longest: head.length + 1, tooLong: longRowError })
  const [row] = [...cutter.push(head), ...cutter.finish()]
  const cells = row === undefined ? [] : splitRow(row.bytes.toString('utf8'), delimiter)
  return typeof cells === 'string' ? [] : cells.map((name) => name.trim())
}

const hasMappedColumns = ({ targets }: ColumnMapping, names: readonly string[]): boolean =>
  targets.every(({ column }) => column === null || names.includes(column.trim()))

/** Makes entries from rows. In a file with a header line, the first row that is not blank is the header. */
class CsvTable {
  readonly #form: DelimiterAndHeader
  readonly #options: CsvOptions
  #rows: RowReader | null = null
  #width = 0

  constructor(form: DelimiterAndHeader, options: CsvOptions) {
    this.#form = form
    this.#options = options
  }

  /** The entry of a row, in a list that is empty for a blank row and for the header. */
  entry({ line, end, bytes }: CsvRow): SourceEntry[] {
    if (!isUtf8(bytes))
      return [
        this.#problem(
          line,
          end,
          'the row is not in UTF-8; if the file is in another encoding, name it, such as --encoding windows-1252',
        ),
      ]
    const text = bytes.toString('utf8')
    if (text.trim() === '') return []
    const cells = splitRow(text, this.#form.delimiter)
    if (this.#rows === null) {
      this.#rows = this.#reader(text, cells)
      this.#options.described?.({ ...this.#form, rows: this.#rows })
      this.#width = cells.length
      if (this.#form.header) return []
    }
    if (typeof cells === 'string') return [this.#problem(line, end, cells)]
    if (cells.length !== this.#width) {
      const counts = `they have ${cells.length} and ${this.#width}`
      const other = this.#form.header ? 'the header line' : 'the first row'
      return [this.#problem(line, end, `the row and ${other} must have the same number of cells: ${counts}`)]
    }
    return [{ line, end, ...this.#rows.read(cells) }]
  }

  /**
   * Makes the reader of rows.
   * @param first the text of the first row that is not blank
   * @param cells the cells of this row, or the reason why it cannot be split into cells
   * @throws ImportError a column is missing; its message names a delimiter with which all columns are found, if there is one
   */
  #reader(first: string, cells: readonly string[] | string): RowReader {
    const { mapping } = this.#options
    const { delimiter: own, header } = this.#form
    try {
      if (typeof cells === 'string') throw headerLineError(cells)
      return createRowReader(mapping, header ? cells : cells.map((_, at) => String(at + 1)))
    } catch (error) {
      const found = DELIMITERS.find(({ delimiter }) => hasMappedColumns(mapping, columnNamesIn(first, delimiter)))
      if (found !== undefined && found.delimiter !== own) {
        throw new ImportError(`the columns of the file are separated by ${found.name}; add --delimiter ${found.word}`)
      }
      const names = columnNamesIn(first, own)
      const isNamed = mapping.targets.some(({ column }) => column !== null && names.includes(column.trim()))
      if (isNamed || typeof cells === 'string' || !header || !(error instanceof ImportError)) throw error
      throw new ImportError(
        `${error.message}; if the file has no header line, add --no-header and name its columns by number, such as {"birth_date": "3"}`,
      )
    }
  }

  #problem(line: number, end: number, problem: string): SourceEntry {
    if (this.#rows === null) throw headerLineError(problem)
    return { line, end, problem }
  }
}

function columnNamesIn(row: string, delimiter: string): readonly string[] {
  const cells = splitRow(row, delimiter)
  return typeof cells === 'string' ? [] : cells.map((name) => name.trim())
}

const headerLineError = (problem: string): ImportError => new ImportError(`the header line cannot be read: ${problem}`)
