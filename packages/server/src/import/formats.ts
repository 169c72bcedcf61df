/** The formats an import reads, as rows. */

import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { type Line, LineCutter } from '../files/lines.ts'
import { type MappedRecords, readColumnMapping } from './column-mapping.ts'
import { encodingReader, readCsv } from './csv.ts'
import { readJsonArray } from './json-array.ts'
import { type Entry, ImportError, MAX_ENTRY_BYTES, type Position, type Source } from './source.ts'

/** What only some formats need. */
export interface FormatOptions {
  /** CSV: by path in the record, the column and how it is read; see column-mapping.ts. */
  readonly mapping?: unknown
  /** What the mapping may name. Unless given, any path: the records are of another registry. */
  readonly records?: MappedRecords
  /** CSV: one character between cells; "," unless given. */
  readonly delimiter?: string
  /** CSV: the encoding of its text, such as `windows-1252`; UTF-8 unless given. */
  readonly encoding?: string
}

type Reader = (source: Source, from: Position) => AsyncGenerator<Entry[]>

interface Format {
  readonly extensions: readonly string[]
  reader(options: FormatOptions): Reader
}

const NO_MAPPING =
  'a CSV file needs a column mapping: add --map columns.json, a file such as ' +
  '{"name.given_name": "Given name", "identifier[UIN]": "Number"}'

export const FORMATS = {
  ndjson: { extensions: ['.ndjson', '.jsonl'], reader: (options) => inUtf8(readNdjson, options) },
  json: { extensions: ['.json'], reader: (options) => inUtf8(readJsonArray, options) },
  csv: {
    extensions: ['.csv'],
    reader: ({ mapping: given, records, delimiter = ',', encoding }) => {
      if (given === undefined) throw new ImportError(NO_MAPPING)
      if (!/^[\t -~]$/.test(delimiter) || delimiter === '"') {
        throw new ImportError(
          "--delimiter must be one ASCII character other than a quotation mark, such as ';'",
        )
      }
      const mapping = readColumnMapping(given, records ?? null)
      const asUtf8 = encodingReader(encoding)
      return (source, from) => readCsv(asUtf8(source), from, { mapping, delimiter })
    },
  },
} as const satisfies Record<string, Format>

/** JSON is UTF-8 (RFC 8259, 8.1). */
function inUtf8(reader: Reader, { encoding }: FormatOptions): Reader {
  if (encoding === undefined) return reader
  throw new ImportError(
    '--encoding is for CSV, and JSON must be UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE',
  )
}

export type FormatName = keyof typeof FORMATS

/**
 * The requested format, else the one of the file's extension.
 * @throws ImportError when neither says
 */
export function formatOf(source: string | Readable, asked: FormatName | undefined): FormatName {
  if (asked !== undefined) return asked
  const extension = typeof source === 'string' ? extname(source).toLowerCase() : ''
  const found = Object.entries<Format>(FORMATS).find(([, { extensions }]) => extensions.includes(extension))
  if (!found)
    throw new ImportError(
      `the name of the file does not tell its format; add --format with one of ${Object.keys(FORMATS).join(', ')}`,
    )
  return found[0] as FormatName
}

/** Reads lines from where an earlier import ended. Blank lines are counted and skipped. */
export async function* readNdjson(source: Source, from: Position): AsyncGenerator<Entry[]> {
  const bytes = Math.max(from.bytes, source.markBytes)
  const cutter = new LineCutter(MAX_ENTRY_BYTES, { line: from.line, bytes })
  for await (const chunk of source.chunks(from.bytes)) {
    const lines = cutter.push(chunk)
    if (lines.length > 0) yield lines.map(entryOf)
  }
  const last = cutter.finish()
  if (last.length > 0) yield last.map(entryOf)
}

function entryOf({ line, end, bytes }: Line): Entry {
  if (bytes === null) return { line, end, problem: `the record is longer than ${MAX_ENTRY_BYTES} bytes` }
  return { line, end, text: bytes }
}
