/** Files of items, one a line: how each format is read, as rows. */

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
import { LineCutter } from '../../files/lines.ts'
import type { Limits } from '../../limits.ts'
import { referenceId } from '../../model/reference-id.ts'
import type { Item } from '../../operations/item.ts'
import { itemBounds } from '../../reading/bounds.ts'
import { readMessage } from '../../reading/envelope.ts'
import { CSV_ITEMS, csvItems } from './csv-items.ts'
import { type LinedItem, lineProblem } from './lined-item.ts'

/** An item that has come, checked. */
export interface ReadItem {
  /** Canonical JSON. */
  readonly text: string
  /** As its answer names it. */
  readonly reference_id: string
}

/** Reads a file from its pieces. @throws RequestFault err.request.bad that names the line */
export interface BulkReader {
  push(bytes: Buffer): readonly ReadItem[]
  finish(): readonly ReadItem[]
}

export type BulkFormat = (operation: Operation, header: IncomingHeader, limits: Limits) => BulkReader

/** The formats of items that a path takes beside json: none where a message is no batch. */
export function bulkFormats({ name, request }: Operation): ReadonlyMap<string, BulkFormat> {
  const formats = new Map<string, BulkFormat>()
  if (request.items !== null) formats.set('ndjson', ndjson)
  if (CSV_ITEMS.has(name)) formats.set('csv', csv)
  return formats
}

const ndjson: BulkFormat = (operation, _header, limits) => {
  const longest = limits.body_bytes
  const bounds = itemBounds(limits)
  const lines = new LineCutter(longest, { line: 0, bytes: 0 })
  const itemOf = ({ line, bytes }: { line: number; bytes: Buffer | null }): LinedItem => {
    if (bytes === null) throw lineProblem(line, `: is longer than ${longest} bytes`)
    return { line, item: parsed(line, bytes, bounds) }
  }
  const mark = withoutMark()
  return {
    push: (bytes) => checked(operation, lines.push(mark(bytes)).map(itemOf)),
    finish: () => checked(operation, lines.finish().map(itemOf)),
  }
}

const csv: BulkFormat = (operation, header, { body_bytes }) => {
  const rows = csvItems(operation, header, body_bytes)
  const mark = withoutMark()
  return {
    push: (bytes) => checked(operation, rows.push(mark(bytes))),
    finish: () => checked(operation, rows.finish()),
  }
}

/** Items as an operation takes them from a plain body: in canonical spelling, or refused with their line. */
function checked({ request }: Operation, items: readonly LinedItem[]): readonly ReadItem[] {
  const member = request.items ?? ''
  return items.map(({ line, item }) => {
    const message = { transaction_id: '-', [member]: [item] }
    try {
      const { [member]: batch } = readMessage(request, message)
      const [read = {}] = batch as readonly (Item & JsonObject)[]
      return { text: canonicalJson(read), reference_id: referenceId(read) }
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
      const place = `message.${member}[0]`
      throw error.message.startsWith(place) ? lineProblem(line, error.message.slice(place.length)) : error
    }
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parsed(line: number, bytes: Buffer, bounds: JsonBounds): JsonValue {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw lineProblem(line, ': must be UTF-8')
  }
  try {
    return parseJson(text, bounds)
  } catch (error) {
    if (error instanceof JsonError) throw lineProblem(line, `: ${error.message}`)
    throw error
  }
}

/** Programs for offices put a byte order mark before a text; it says nothing in UTF-8. */
function withoutMark(): (bytes: Buffer) => Buffer {
  let head: Buffer | null = Buffer.alloc(0)
  return (bytes) => {
    if (head === null) return bytes
    head = Buffer.concat([head, bytes])
    if (head.length < MARK.length && MARK.subarray(0, head.length).equals(head)) return Buffer.alloc(0)
    const rest = head.subarray(0, MARK.length).equals(MARK) ? head.subarray(MARK.length) : head
    head = null
    return rest
  }
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf])
