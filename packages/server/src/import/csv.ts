/** CSV (RFC 4180) with a header line, made into documents by a column mapping. */
import { isUtf8 } from 'node:buffer'
import type { JsonValue } from '@rollcall/protocol'
import { type ColumnMapping, documentBuilder } from './column-mapping.ts'
import { type Entry, ImportError, MAX_ENTRY_BYTES, type Position } from './entry.ts'
import type { Source } from './source.ts'

const [QUOTE, NEWLINE, RETURN] = [0x22, 0x0a, 0x0d]

/**
 * Reads the rows after the header; a bad row is reported and the next one read. A quote within a cell that does
 * not begin with one is an ordinary character.
 * @throws ImportError when a mapped column is missing or a row grows beyond all measure (an unclosed quote)
 */
export async function* readCsv(
  source: Source,
  from: Position,
  { mapping, delimiter }: { mapping: ColumnMapping; delimiter: string },
): AsyncGenerator<Entry[]> {
  const cutter = new RowCutter(delimiter)
  const table = new Table(mapping, delimiter)
  let skip = from.entries
  for await (const chunk of source.chunks(0)) {
    const entries = cutter.push(chunk).flatMap((row) => table.entry(row))
    const fresh = skip > 0 ? entries.slice(skip) : entries
    skip = Math.max(0, skip - entries.length)
    if (fresh.length > 0) yield fresh
  }
  const last = cutter.finish().flatMap((row) => table.entry(row))
  if (skip < last.length) yield last
}

interface Row {
  readonly line: number
  readonly end: number
  /** Without the line break that ends it. */
  readonly bytes: Buffer
}

/** Cuts the stream into rows, which may hold line breaks inside quotes. */
class RowCutter {
  readonly #delimiter: number
  #state: 'cell starts' | 'plain' | 'quoted' | 'quote in quoted' = 'cell starts'
  #pieces: Buffer[] = []
  #length = 0
  #line = 1
  #startLine = 1
  #bytes = 0

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** The rows that end in this chunk. */
  push(chunk: Buffer): Row[] {
    const rows: Row[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      if (byte === NEWLINE) this.#line += 1
      if (this.#state === 'quoted') {
        if (byte === QUOTE) this.#state = 'quote in quoted'
      } else if (byte === NEWLINE) {
        this.#keep(chunk.subarray(start, at))
        start = at + 1
        rows.push(this.#take(this.#bytes + start))
      } else if (byte === this.#delimiter) this.#state = 'cell starts'
      // Doubled, the quote is a character of the cell; and only at its beginning does it open one.
      else if (byte === QUOTE && this.#state !== 'plain') this.#state = 'quoted'
      else this.#state = 'plain'
    }
    this.#keep(chunk.subarray(start))
    this.#bytes += chunk.length
    return rows
  }

  /** The last row, when no line break ends it. */
  finish(): Row[] {
    return this.#length > 0 ? [this.#take(this.#bytes)] : []
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    // A quote that is never closed makes one row of all that follows: there is no next row to go on with.
    if (this.#length > MAX_ENTRY_BYTES) {
      throw new ImportError(
        `line ${this.#startLine}: a row longer than ${MAX_ENTRY_BYTES} bytes; is a quote never closed?`,
      )
    }
    if (piece.length > 0) this.#pieces.push(piece)
  }

  #take(end: number): Row {
    const bytes = Buffer.concat(this.#pieces)
    const row = { line: this.#startLine, end, bytes: bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes }
    this.#pieces = []
    this.#length = 0
    this.#startLine = this.#line
    this.#state = 'cell starts'
    return row
  }
}

/** Rows under a header: the first row that is not blank. */
class Table {
  readonly #mapping: ColumnMapping
  readonly #delimiter: string
  #build: ((cells: readonly string[]) => JsonValue) | null = null
  #width = 0

  constructor(mapping: ColumnMapping, delimiter: string) {
    this.#mapping = mapping
    this.#delimiter = delimiter
  }

  /** None for a blank row and for the header. */
  entry({ line, end, bytes }: Row): Entry[] {
    if (!isUtf8(bytes)) return [this.#problem(line, end, 'not valid UTF-8')]
    const text = bytes.toString('utf8')
    if (text.trim() === '') return []
    const cells = splitRow(text, this.#delimiter)
    if (typeof cells === 'string') return [this.#problem(line, end, cells)]
    if (this.#build === null) {
      this.#build = documentBuilder(this.#mapping, cells)
      this.#width = cells.length
      return []
    }
    if (cells.length !== this.#width) {
      return [this.#problem(line, end, `${cells.length} cells where the header has ${this.#width}`)]
    }
    return [{ line, end, document: this.#build(cells) }]
  }

  #problem(line: number, end: number, problem: string): Entry {
    if (this.#build === null) throw new ImportError(`the header line: ${problem}`)
    return { line, end, problem }
  }
}

/** The cells of a row, or what is wrong with it. */
function splitRow(row: string, delimiter: string): string[] | string {
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
