/** Reads the first rows of a table, so that a person or a proposal can look at them. */
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { RowCutter, splitRow } from '@rollcall/base/files/csv-rows'
import { UTF8_MARK } from '@rollcall/base/files/lines'
import { systemReason } from '@rollcall/base/shared/system-error'
import { checkDelimiter } from './csv.ts'
import { refuseNonTextFile } from './detect.ts'
import { ImportError } from './import-error.ts'
import type { HeaderAndRows } from './propose-mapping.ts'

/** The most bytes of a file that a sample reads. */
const SAMPLE_BYTES = 8 * 1024 * 1024
const POSSIBLE_DELIMITERS = [',', ';', '\t', '|'] as const

export interface TableSample extends HeaderAndRows {
  readonly delimiter: string
  readonly encoding: string
  /** True when the sample was made from the whole file, and not only from its beginning. */
  readonly whole: boolean
  /** The line numbers of left-out rows, which have another number of cells than the header, or cannot be read. */
  readonly leftOut: readonly number[]
}

/**
 * Reads the first rows of a table of text, and finds out its delimiter and encoding.
 * @param source a path, or a stream, which is read no further than needed
 * @param asked the delimiter and the encoding, if the caller knows them
 * @throws ImportError the delimiter cannot be one, the file cannot be read, or it is no table of text
 */
export async function readTableSample(
  source: string | Readable,
  asked: { readonly delimiter?: string; readonly encoding?: string } = {},
): Promise<TableSample> {
  checkDelimiter(asked.delimiter)
  const { bytes, whole } = removeByteOrderMark(typeof source === 'string' ? await fileHead(source) : await streamHead(source))
  refuseNonTextFile(bytes)
  if (bytes.includes(0)) throw new ImportError('the file is no text in UTF-8: save it as "CSV UTF-8"')
  const { text, encoding } = decodeSample(bytes, asked.encoding)
  if (!text.includes(0x0a) && text.includes(0x0d)) {
    throw new ImportError('the lines of the file end with carriage returns alone: end each line with a line feed')
  }
  const tables = (asked.delimiter === undefined ? POSSIBLE_DELIMITERS : [asked.delimiter]).map((delimiter) => ({
    delimiter,
    ...readHeaderAndRows(text, delimiter, whole),
  }))
  const [first] = tables.toSorted((one, other) => other.header.length - one.header.length)
  if (first === undefined || first.header.length === 0) throw new ImportError('the file has no header line')
  return { ...first, encoding, whole }
}

function removeByteOrderMark(head: Buffer): { readonly bytes: Buffer; readonly whole: boolean } {
  const mark = head.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? UTF8_MARK.length : 0
  return { bytes: head.subarray(mark), whole: head.length < SAMPLE_BYTES }
}

async function streamHead(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk as string)
    chunks.push(bytes)
    length += bytes.length
    if (length >= SAMPLE_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, SAMPLE_BYTES)
}

async function fileHead(path: string): Promise<Buffer> {
  try {
    return await streamHead(createReadStream(path))
  } catch (error) {
    throw new ImportError(`the file ${path} cannot be read: ${systemReason(error)}`)
  }
}

function decodeSample(bytes: Buffer, asked: string | undefined): { readonly text: Buffer; readonly encoding: string } {
  // The last line of the sample may be cut within a character, so only the lines before it show the encoding.
  const found = isUtf8(bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1 || bytes.length)) ? 'utf-8' : 'windows-1252'
  const encoding = asked ?? found
  try {
    const decoded = new TextDecoder(encoding).decode(bytes)
    return { text: Buffer.from(decoded), encoding }
  } catch {
    throw new ImportError(`there is no encoding ${encoding}; write one such as utf-8 or windows-1252 (Latin-1)`)
  }
}

function readHeaderAndRows(text: Buffer, delimiter: string, whole: boolean): HeaderAndRows & Pick<TableSample, 'leftOut'> {
  const cutter = new RowCutter({
    delimiter,
    longest: SAMPLE_BYTES * 2,
    tooLong: (line) => new ImportError(`line ${line}: a row is too long; look for a quotation mark that is never closed`),
  })
  const found = [...cutter.push(text), ...(whole ? cutter.finish() : [])]
  const [first, ...others] = found.flatMap(({ line, bytes }) => {
    const row = bytes.toString('utf8')
    return row.trim() === '' ? [] : [{ line, cells: splitRow(row, delimiter) }]
  })
  const header = first === undefined || typeof first.cells === 'string' ? [] : first.cells
  const rows: (readonly string[])[] = []
  const leftOut: number[] = []
  for (const { line, cells } of others) {
    if (typeof cells !== 'string' && cells.length === header.length) rows.push(cells)
    else leftOut.push(line)
  }
  return { header, rows, leftOut }
}
