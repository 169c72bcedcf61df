/** CSV (RFC 4180) with a header line, made into documents by a column mapping. */

import { isUtf8 } from 'node:buffer'
import { type Row, RowCutter, splitRow } from '../files/csv-rows.ts'
import type { ColumnMapping } from './column-mapping.ts'
import { type RowDocument, rowDocuments } from './row-documents.ts'
import { type Entry, ImportError, MAX_ENTRY_BYTES, newEntries, type Position, type Source } from './source.ts'

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
  yield* newEntries(source, from, {
    push: (chunk) => cutter.push(chunk).flatMap((row) => table.entry(row)),
    finish: () => cutter.finish().flatMap((row) => table.entry(row)),
  })
}

const tooLong = (line: number): ImportError =>
  new ImportError(
    `line ${line}: a row is longer than ${MAX_ENTRY_BYTES} bytes; look for a quotation mark that is never closed`,
  )

/** What may stand between columns, and the word for it on the command line. */
const DELIMITERS = [
  { delimiter: ';', name: 'semicolons', word: "';'" },
  { delimiter: '\t', name: 'tabs', word: "$'\\t'" },
  { delimiter: '|', name: 'vertical bars', word: "'|'" },
  { delimiter: ',', name: 'commas', word: "','" },
]

/** Rows under a header: the first row that is not blank. */
class Table {
  readonly #mapping: ColumnMapping
  readonly #delimiter: string
  #build: ((cells: readonly string[]) => RowDocument) | null = null
  #width = 0

  constructor(mapping: ColumnMapping, delimiter: string) {
    this.#mapping = mapping
    this.#delimiter = delimiter
  }

  /** None for a blank row and for the header. */
  entry({ line, end, bytes }: Row): Entry[] {
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
    const cells = splitRow(text, this.#delimiter)
    if (this.#build === null) {
      this.#build = this.#builder(text, cells)
      this.#width = cells.length
      return []
    }
    if (typeof cells === 'string') return [this.#problem(line, end, cells)]
    if (cells.length !== this.#width) {
      const counts = `they have ${cells.length} and ${this.#width}`
      return [
        this.#problem(line, end, `the row and the header line must have the same number of cells: ${counts}`),
      ]
    }
    return [{ line, end, ...this.#build(cells) }]
  }

  /** @throws ImportError that names the delimiter which would find all columns, where there is one */
  #builder(header: string, cells: readonly string[] | string): (cells: readonly string[]) => RowDocument {
    try {
      if (typeof cells === 'string') throw headerProblem(cells)
      return rowDocuments(this.#mapping, cells)
    } catch (error) {
      const found = DELIMITERS.find(({ delimiter }) => this.#fits(splitRow(header, delimiter)))
      if (found === undefined) throw error
      throw new ImportError(
        `the columns of the file are separated by ${found.name}; add --delimiter ${found.word}`,
      )
    }
  }

  #fits(header: readonly string[] | string): boolean {
    if (typeof header === 'string') return false
    const names = header.map((name) => name.trim())
    return this.#mapping.targets.every(({ column }) => column === null || names.includes(column.trim()))
  }

  #problem(line: number, end: number, problem: string): Entry {
    if (this.#build === null) throw headerProblem(problem)
    return { line, end, problem }
  }
}

const headerProblem = (problem: string): ImportError =>
  new ImportError(`the header line cannot be read: ${problem}`)

/**
 * The same source with its text in UTF-8.
 * @param encoding a label of the Encoding Standard, such as `windows-1252`; undefined: UTF-8
 * @throws ImportError when there is no such encoding; while it is read, when its bytes are not in that encoding
 */
export function encodingReader(encoding = 'utf-8'): (source: Source) => Source {
  // A UTF-8 source stays as it is: each record that is not UTF-8 is rejected for itself.
  if (decoderOf(encoding).encoding === 'utf-8') return (source) => source
  return (source) => ({ ...source, chunks: (offset) => decoded(source.chunks(offset), encoding) })
}

function decoderOf(encoding: string) {
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch {
    throw new ImportError(
      `there is no encoding ${encoding}; write one such as utf-8, windows-1252 (Latin-1) or iso-8859-2`,
    )
  }
}

async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = decoderOf(encoding)
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }))
    } catch {
      throw new ImportError(`the file is not in the encoding ${encoding}; name its encoding with --encoding`)
    }
  }
  for await (const chunk of chunks) yield decode(chunk)
  const last = decode()
  if (last.length > 0) yield last
}
