/** Reads the rows of a CSV file (RFC 4180) from a stream of bytes, with their line numbers. */
import { skipBlankLines } from './lines.ts'

const [QUOTE, NEWLINE, RETURN] = [0x22, 0x0a, 0x0d]

/** A row of the file, not yet split into cells. */
export interface CsvRow {
  /** The number of the line on which the row begins, from 1. */
  readonly line: number
  /** The number of bytes from the beginning of the stream to the end of this row. */
  readonly end: number
  /** The row without its line break. */
  readonly bytes: Buffer
}

interface RowCutterOptions {
  /** The character between cells: ASCII, and not a quote. */
  readonly delimiter: string
  /** The largest size of a row, in bytes. */
  readonly longest: number
  /**
   * Makes the error for a row that is longer than `longest`. Reading then stops, because a row with an unclosed quote has no end.
   */
  readonly tooLong: (line: number) => Error
}

/** Cuts the stream into rows, which may hold line breaks inside quotes. */
export class RowCutter {
  readonly #delimiter: number
  readonly #options: RowCutterOptions
  #state: 'cell starts' | 'plain' | 'quoted' | 'quote in quoted' = 'cell starts'
  #pieces: Buffer[] = []
  #length = 0
  #line = 1
  #startLine = 1
  #bytes = 0

  constructor(options: RowCutterOptions) {
    this.#options = options
    this.#delimiter = options.delimiter.charCodeAt(0)
  }

  /**
   * Returns the rows that end in this chunk. Blank rows are left out, except one whose bytes lie in two chunks.
   * Throws the error of `tooLong`.
   */
  push(chunk: Buffer): CsvRow[] {
    const rows: CsvRow[] = []
    let start = this.#length === 0 ? this.#skip(chunk, 0) : 0
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      if (byte === NEWLINE) this.#line += 1
      if (this.#state === 'quoted') {
        if (byte === QUOTE) this.#state = 'quote in quoted'
      } else if (byte === NEWLINE) {
        this.#keep(chunk.subarray(start, at))
        rows.push(this.#take(this.#bytes + at + 1))
        start = this.#skip(chunk, at + 1)
        at = start - 1
      } else if (byte === this.#delimiter) this.#state = 'cell starts'
      // A doubled quote is one quote in the cell. A quote opens a quoted text only at the beginning of a cell.
      else if (byte === QUOTE && this.#state !== 'plain') this.#state = 'quoted'
      else this.#state = 'plain'
    }
    this.#keep(chunk.subarray(start))
    this.#bytes += chunk.length
    return rows
  }

  /** Returns the last row, if no line break ends it. */
  finish(): CsvRow[] {
    return this.#length > 0 ? [this.#take(this.#bytes)] : []
  }

  #skip(chunk: Buffer, from: number): number {
    const { start, lines } = skipBlankLines(chunk, from)
    this.#line += lines
    this.#startLine += lines
    return start
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > this.#options.longest) throw this.#options.tooLong(this.#startLine)
    if (piece.length > 0) this.#pieces.push(piece)
  }

  #take(end: number): CsvRow {
    const bytes = Buffer.concat(this.#pieces)
    const row = { line: this.#startLine, end, bytes: bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes }
    this.#pieces = []
    this.#length = 0
    this.#startLine = this.#line
    this.#state = 'cell starts'
    return row
  }
}

/** Splits a row into cells, or returns what is wrong. A quote inside an unquoted cell is an ordinary character. */
export function splitRow(row: string, delimiter: string): string[] | string {
  const cells: string[] = []
  for (let at = 0; at <= row.length; at += 1) {
    if (row[at] !== '"') {
      const end = row.indexOf(delimiter, at)
      cells.push(row.slice(at, end === -1 ? row.length : end))
      at = end === -1 ? row.length : end
      continue
    }
    let end = row.indexOf('"', at + 1)
    while (end !== -1 && row[end + 1] === '"') end = row.indexOf('"', end + 2)
    if (end === -1) return 'a quote is never closed'
    if (end + 1 < row.length && row[end + 1] !== delimiter) return 'text after the closing quote of a cell'
    cells.push(row.slice(at + 1, end).replaceAll('""', '"'))
    at = end + 1
  }
  return cells
}
