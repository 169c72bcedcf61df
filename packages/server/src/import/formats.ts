/** The formats an import reads, as rows. */
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { readColumnMapping } from './column-mapping.ts'
import { readCsv } from './csv.ts'
import { type Entry, ImportError, type Position } from './entry.ts'
import { readJsonArray } from './json-array.ts'
import { readNdjson } from './ndjson.ts'
import type { Source } from './source.ts'

/** What only some formats need. */
export interface FormatOptions {
  /** CSV: `{column: path}`, see column-mapping.ts. */
  readonly mapping?: unknown
  /** CSV: one character between cells; "," unless given. */
  readonly delimiter?: string
}

type Reader = (source: Source, from: Position) => AsyncGenerator<Entry[]>

interface Format {
  readonly extensions: readonly string[]
  reader(options: FormatOptions): Reader
}

export const FORMATS = {
  ndjson: { extensions: ['.ndjson', '.jsonl'], reader: () => readNdjson },
  json: { extensions: ['.json'], reader: () => readJsonArray },
  csv: {
    extensions: ['.csv'],
    reader: ({ mapping: given, delimiter = ',' }) => {
      if (given === undefined) throw new ImportError('CSV needs a column mapping')
      if (!/^[\t -~]$/.test(delimiter) || delimiter === '"') {
        throw new ImportError('the delimiter must be one ASCII character and not a quote')
      }
      const mapping = readColumnMapping(given)
      return (source, from) => readCsv(source, from, { mapping, delimiter })
    },
  },
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof FORMATS

/**
 * The format that was asked for, else the one of the file's extension.
 * @throws ImportError when neither says
 */
export function formatOf(source: string | Readable, asked: FormatName | undefined): FormatName {
  if (asked !== undefined) return asked
  const extension = typeof source === 'string' ? extname(source).toLowerCase() : ''
  const found = Object.entries<Format>(FORMATS).find(([, { extensions }]) => extensions.includes(extension))
  if (!found)
    throw new ImportError(`the format is not clear: state one of ${Object.keys(FORMATS).join(', ')}`)
  return found[0] as FormatName
}
