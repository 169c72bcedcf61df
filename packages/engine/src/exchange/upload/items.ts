/** Reads an uploaded file of items: ndjson with an item on each line, or CSV with an identifier in each row. */
import { isUtf8 } from 'node:buffer'
import { type CsvRow, RowCutter, splitRow } from '@rollcall/base/files/csv-rows'
import { isBlank, LineCutter, UTF8_MARK } from '@rollcall/base/files/lines'
import type { Limits } from '@rollcall/core/limits'
import { referenceId } from '@rollcall/core/model/exchange'
import { itemBounds, readMessage } from '@rollcall/participants/reading/envelope'
import {
  canonicalJson,
  type IncomingHeader,
  type JsonBounds,
  JsonError,
  type JsonObject,
  type JsonValue,
  type Operation,
  parseJson,
  RequestFault,
} from '@rollcall/protocol'
import type { Item } from '../../operations/item.ts'

interface ItemWithLine {
  /** The number of the line on which the item begins; the first is 1. */
  readonly line: number
  readonly item: JsonValue
}

const lineFault = (line: number, rule: string): RequestFault =>
  new RequestFault('err.request.bad', `fileName[line ${line}]: ${rule}`)

/** A checked item of an uploaded file. */
export interface CheckedItem {
  /** The item as canonical JSON. */
  readonly text: string
  /** The reference_id of the item. */
  readonly reference_id: string
}

/**
 * Reads an uploaded file in pieces, and returns the items found in each.
 * @throws RequestFault err.request.bad with the number of the line
 */
interface UploadFileReader<Found> {
  push(bytes: Buffer): readonly Found[]
  finish(): readonly Found[]
}

/** Creates the reader for a file of items in one format. */
export type MakeUploadFileReader = (operation: Operation, header: IncomingHeader, limits: Limits) => UploadFileReader<CheckedItem>

/** The readers of the file formats that a path accepts in addition to json; empty when the operation has no items. */
export function uploadFormatsOf({ name, request }: Operation): ReadonlyMap<string, MakeUploadFileReader> {
  const formats = new Map<string, MakeUploadFileReader>()
  if (request.items !== null) {
    formats.set('ndjson', (operation, _header, limits) => makeItemCheckingReader(operation, ndjsonReader(limits)))
  }
  const content = CSV_ITEMS.get(name)
  if (content !== undefined) {
    formats.set('csv', (operation, header, limits) => makeItemCheckingReader(operation, csvReader(content, header, limits)))
  }
  return formats
}

/** Makes a reader that checks each item which `reader` finds in the file, and returns it as canonical JSON. */
function makeItemCheckingReader(operation: Operation, reader: UploadFileReader<ItemWithLine>): UploadFileReader<CheckedItem> {
  const strip = byteOrderMarkRemover()
  return {
    push: (bytes) => checkItems(operation, reader.push(strip(bytes))),
    finish: () => checkItems(operation, reader.finish()),
  }
}

function ndjsonReader(limits: Limits): UploadFileReader<ItemWithLine> {
  const bounds = itemBounds(limits)
  const lines = new LineCutter(limits.body_bytes, { line: 0, bytes: 0 })
  const itemOf = ({ line, bytes }: { line: number; bytes: Buffer | null }): ItemWithLine => {
    if (bytes === null) throw lineFault(line, `is longer than ${limits.body_bytes} bytes`)
    return { line, item: parseLine(line, bytes, bounds) }
  }
  return { push: (bytes) => lines.push(bytes).map(itemOf), finish: () => lines.finish().map(itemOf) }
}

/**
 * Checks the items of a file like those of a plain body, and makes them canonical.
 * @throws RequestFault names the line of the first item that is not valid
 */
function checkItems({ request }: Operation, items: readonly ItemWithLine[]): readonly CheckedItem[] {
  const member = request.items ?? ''
  return items.map(({ line, item }) => {
    const message = { transaction_id: '-', [member]: [item] }
    try {
      const { [member]: batch } = readMessage(request, message)
      const [read = {}] = batch as readonly (Item & JsonObject)[]
      return { text: canonicalJson(read), reference_id: referenceId(read) }
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
      // The problem names the first item of the message. The number of its line in the file replaces that name.
      const path = `message.${member}[0]`
      if (!error.message.startsWith(path)) throw error
      throw new RequestFault('err.request.bad', `fileName[line ${line}]${error.message.slice(path.length)}`)
    }
  })
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true })

function parseLine(line: number, bytes: Buffer, bounds: JsonBounds): JsonValue {
  let text: string
  try {
    text = utf8Decoder.decode(bytes)
  } catch {
    throw lineFault(line, 'must be UTF-8')
  }
  try {
    return parseJson(text, bounds)
  } catch (error) {
    if (error instanceof JsonError) throw lineFault(line, error.message)
    throw error
  }
}

/** Makes a function that removes a byte order mark, which office programs write. It has no meaning in UTF-8. */
function byteOrderMarkRemover(): (bytes: Buffer) => Buffer {
  let head: Buffer | null = Buffer.alloc(0)
  return (bytes) => {
    if (head === null) return bytes
    head = Buffer.concat([head, bytes])
    const { length } = UTF8_MARK
    if (head.length < length && UTF8_MARK.subarray(0, head.length).equals(head)) return Buffer.alloc(0)
    const rest = head.subarray(0, length).equals(UTF8_MARK) ? head.subarray(length) : head
    head = null
    return rest
  }
}

/** The identifier to search for, from one row of a CSV file. */
interface CsvIdentifier {
  readonly type: string
  readonly value: string
  /** The reg_type of the row; "" when the cell is empty or missing. */
  readonly reg_type: string
}

/** For each operation that takes CSV, the function that makes the item of a row. */
const CSV_ITEMS: ReadonlyMap<string, (identifier: CsvIdentifier) => JsonObject> = new Map([
  [
    'search',
    ({ type, value, reg_type }: CsvIdentifier): JsonObject => ({
      search_criteria: { query_type: 'idtype-value', query: { type, value }, ...(reg_type !== '' && { reg_type }) },
    }),
  ],
])

const REQUIRED_COLUMNS = ['identifier_type', 'identifier_value'] as const
/** The columns that a CSV file may lack. `reg_type` is in files for other servers (public-standard.md N8). */
const OPTIONAL_COLUMNS = ['reference_id', 'reg_type'] as const
const CSV_COLUMNS: readonly string[] = [...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS]
const CSV_HEADER_RULE = `must be the header ${REQUIRED_COLUMNS.join(',')}, with or without ${OPTIONAL_COLUMNS.join(' and ')}`
const CSV_DELIMITER = ','

function csvReader(
  content: (identifier: CsvIdentifier) => JsonObject,
  { message_ts }: IncomingHeader,
  { body_bytes }: Limits,
): UploadFileReader<ItemWithLine> {
  const cutter = new RowCutter({
    delimiter: CSV_DELIMITER,
    longest: body_bytes,
    tooLong: (line) => lineFault(line, `is longer than ${body_bytes} bytes; look for a quotation mark that is never closed`),
  })
  let columns: readonly string[] | null = null

  const itemOf = (row: CsvRow): ItemWithLine[] => {
    const cells = readCsvCells(row)
    if (cells === null) return []
    if (columns === null) {
      columns = requireCsvColumns(row.line, cells)
      return []
    }
    if (cells.length !== columns.length) {
      throw lineFault(row.line, `has ${cells.length} cells, and the header line has ${columns.length}`)
    }
    const cell = (column: string): string => cells[columns?.indexOf(column) ?? -1] ?? ''
    const item = content({ type: cell('identifier_type'), value: cell('identifier_value'), reg_type: cell('reg_type').trim() })
    const reference_id = cell('reference_id') || String(row.line)
    return [{ line: row.line, item: { reference_id, timestamp: message_ts, ...item } }]
  }
  return {
    push: (bytes) => cutter.push(bytes).flatMap(itemOf),
    finish() {
      const items = cutter.finish().flatMap(itemOf)
      if (columns === null) throw lineFault(1, CSV_HEADER_RULE)
      return items
    },
  }
}

/** Returns the cells of a CSV row; null for a blank row. */
function readCsvCells({ line, bytes }: CsvRow): readonly string[] | null {
  if (isBlank(bytes)) return null
  if (!isUtf8(bytes)) throw lineFault(line, 'must be UTF-8')
  const text = bytes.toString('utf8')
  const cells = splitRow(text, CSV_DELIMITER)
  if (typeof cells === 'string') throw lineFault(line, cells)
  if (text.includes('\0')) throw lineFault(line, 'must not have a NUL character')
  return cells
}

function requireCsvColumns(line: number, cells: readonly string[]): readonly string[] {
  const columns = cells.map((cell) => cell.trim())
  const known = columns.every((column) => CSV_COLUMNS.includes(column))
  const complete = REQUIRED_COLUMNS.every((column) => columns.includes(column))
  if (known && complete && new Set(columns).size === columns.length) return columns
  throw lineFault(line, CSV_HEADER_RULE)
}
