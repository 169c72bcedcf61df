/** CSV (RFC 4180) with a header line, made into documents by a column mapping. */
import { isUtf8 } from 'node:buffer'
import type { JsonValue } from '@rollcall/protocol'
import { type Row, RowCutter, splitRow } from '../files/csv-rows.ts'
import { type ColumnMapping, documentBuilder } from './column-mapping.ts'
import { type Entry, ImportError, MAX_ENTRY_BYTES, type Position } from './entry.ts'
import type { Source } from './source.ts'

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
  const cutter = new RowCutter({ delimiter, longest: MAX_ENTRY_BYTES, tooLong })
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

const tooLong = (line: number): ImportError =>
  new ImportError(`line ${line}: a row longer than ${MAX_ENTRY_BYTES} bytes; is a quote never closed?`)

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
