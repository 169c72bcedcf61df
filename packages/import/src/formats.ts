/** The formats of files that an import reads: in `FILE_FORMATS` each has a row with its extensions and its reader. */

import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { type Line, LineCutter } from '@rollcall/base/files/lines'
import { type KindAndRecordTypes, type MappingTarget, readColumnMapping } from './column-mapping.ts'
import { checkDelimiter, type DelimiterAndHeader, readCsv } from './csv.ts'
import { convertToUtf8, createDecoder, findSourceEncoding } from './encoding.ts'
import { refuseMappingWithoutPrimary } from './identified.ts'
import { readJsonArray } from './json-array.ts'
import { ImportError, type ImportSource, MAX_ENTRY_BYTES, openSource, type SourceEntry, type SourcePosition } from './source.ts'
import type { DuplicateRule } from './write-lines.ts'

/** How a file was read: the format, the encoding, and for a table its delimiter, header line and columns. */
export interface ReadingDescription {
  readonly format: FormatName
  readonly encoding: string
  /** The delimiter, whether there is a header line, and the mapped and the unused columns; null when the file is no table. */
  readonly table:
    | (DelimiterAndHeader & {
        readonly targets: readonly MappingTarget[]
        /** The names of columns that the mapping does not use. */
        readonly unused: readonly string[]
      })
    | null
}

/** The options of a file; some are for one format only. */
export interface FormatOptions {
  /** CSV: the column mapping (column-mapping.ts). */
  readonly mapping?: unknown
  /** The kind and record types for the mapping; absent: records belong to another registry, so any path is accepted. */
  readonly records?: KindAndRecordTypes
  /** Called before the first record, with how the file is read. */
  readonly described?: (read: ReadingDescription) => void
  /** CSV: the character between cells; absent: the first row shows it. */
  readonly delimiter?: string
  /** CSV: the encoding of the text, such as `windows-1252`; absent: the first bytes show it. */
  readonly encoding?: string
  /** CSV: whether the first row has the names of columns; absent: the first row shows it. */
  readonly header?: boolean
}

type EntryReader = (source: ImportSource, from: SourcePosition) => AsyncGenerator<SourceEntry[]>

/** A row of `FILE_FORMATS`: the extensions of a format, and the function that makes its reader. */
interface FormatDefinition {
  readonly extensions: readonly string[]
  reader(options: FormatOptions): EntryReader
}

/** The treatment of repeated records: for CSV that of the mapping, by default `reject`; for JSON `last`. */
export const chooseDuplicateRule = (format: FormatName, mapping: unknown): DuplicateRule =>
  format === 'csv' ? (readColumnMapping(mapping, null).duplicates ?? 'reject') : 'last'

const MISSING_MAPPING_MESSAGE =
  'a CSV file needs a column mapping: add --map columns.json, a file such as ' +
  '{"name.given_name": "Given name", "identifier[UIN]": "Number"}'

export const FILE_FORMATS = {
  ndjson: { extensions: ['.ndjson', '.jsonl'], reader: (options) => jsonReader('ndjson', readNdjson, options) },
  json: { extensions: ['.json'], reader: (options) => jsonReader('json', readJsonArray, options) },
  csv: {
    extensions: ['.csv', '.tsv'],
    reader: ({ mapping: given, records, delimiter, encoding: asked, header, described }) => {
      if (given === undefined) throw new ImportError(MISSING_MAPPING_MESSAGE)
      checkDelimiter(delimiter)
      const mapping = readColumnMapping(given, records ?? null)
      if (records === undefined && mapping.duplicates !== null) {
        throw new ImportError('the column mapping of duplicates: is for an import alone; leave it out')
      }
      if (records !== undefined) refuseMappingWithoutPrimary(mapping, records)
      if (asked !== undefined) createDecoder(asked)
      return (source, from) => {
        const encoding = findSourceEncoding(source, asked)
        return readCsv(convertToUtf8(source, encoding), from, {
          mapping,
          ...(delimiter !== undefined && { delimiter }),
          ...(header !== undefined && { header }),
          described: ({ rows: { unused }, ...form }) =>
            described?.({ format: 'csv', encoding, table: { ...form, targets: mapping.targets, unused } }),
        })
      }
    },
  },
} as const satisfies Record<string, FormatDefinition>

/** Makes a reader of JSON files, which are always UTF-8 (RFC 8259, 8.1) and have no column mapping. */
function jsonReader(
  format: 'ndjson' | 'json',
  reader: EntryReader,
  { encoding, mapping, described }: FormatOptions,
): EntryReader {
  if (encoding !== undefined) throw new ImportError(`--encoding is for CSV, and ${JSON_UTF8_ADVICE}`)
  if (mapping !== undefined) {
    throw new ImportError('--map is for CSV: a record in JSON has its members already; leave --map out')
  }
  return (source, from) => {
    if (source.mark.encoding?.startsWith('utf-16')) throw new ImportError(`the file is in UTF-16, and ${JSON_UTF8_ADVICE}`)
    described?.({ format, encoding: 'utf-8', table: null })
    return reader(source, from)
  }
}

const JSON_UTF8_ADVICE = 'JSON must be UTF-8; convert the file, such as: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE'

export type FormatName = keyof typeof FILE_FORMATS

/** The requested format, or else that of the file's extension. @throws ImportError neither is known */
export function chooseFormat(source: string | Readable, asked: FormatName | undefined): FormatName {
  if (asked !== undefined) return asked
  const extension = typeof source === 'string' ? extname(source).toLowerCase() : ''
  const found = Object.entries<FormatDefinition>(FILE_FORMATS).find(([, { extensions }]) => extensions.includes(extension))
  if (!found)
    throw new ImportError(
      `the name of the file does not tell its format; add --format with one of ${Object.keys(FILE_FORMATS).join(', ')}`,
    )
  return found[0] as FormatName
}

/**
 * Finds the format of a source.
 * @throws ImportError the format is not known; for a file that begins like one of `NON_TEXT_FILE_TYPES`, says so instead
 */
export async function chooseSourceFormat(source: string | Readable, asked: FormatName | undefined): Promise<FormatName> {
  try {
    return chooseFormat(source, asked)
  } catch (error) {
    if (typeof source === 'string') await (await openSource(source)).close()
    throw error
  }
}

/** Reads the lines after those that an earlier import has done. Blank lines are skipped, but count in the line numbers. */
export async function* readNdjson(source: ImportSource, from: SourcePosition): AsyncGenerator<SourceEntry[]> {
  const bytes = Math.max(from.bytes, source.mark.bytes)
  const cutter = new LineCutter(MAX_ENTRY_BYTES, { line: from.line, bytes })
  for await (const chunk of source.chunks(from.bytes)) {
    const lines = cutter.push(chunk)
    if (lines.length > 0) yield lines.map(makeLineEntry)
  }
  const last = cutter.finish()
  if (last.length > 0) yield last.map(makeLineEntry)
}

function makeLineEntry({ line, end, bytes }: Line): SourceEntry {
  if (bytes === null) return { line, end, problem: `the record is longer than ${MAX_ENTRY_BYTES} bytes` }
  return { line, end, text: bytes }
}
