/** Items from CSV: an identifier a row. `REQUIRED` and `OPTIONAL` are the columns of its header. */
import { isUtf8 } from 'node:buffer'
import type { IncomingHeader, JsonObject, Operation, RequestFault } from '@rollcall/protocol'
import { type Row, RowCutter, splitRow } from '../../files/csv-rows.ts'
import { isBlank } from '../../files/lines.ts'
import { type LinedItem, lineProblem } from './lined-item.ts'

/** What one row says, beside its reference_id. */
interface Asked {
  readonly type: string
  readonly value: string
  /** "" where the row does not say it. */
  readonly reg_type: string
}

/** What a row asks for, by operation; a path whose operation is not here takes no CSV. */
export const CSV_ITEMS: ReadonlyMap<string, (asked: Asked) => JsonObject> = new Map([
  [
    'search',
    ({ type, value, reg_type }: Asked): JsonObject => ({
      search_criteria: {
        query_type: 'idtype-value',
        query: { type, value },
        ...(reg_type !== '' && { reg_type }),
      },
    }),
  ],
])

const REQUIRED = ['identifier_type', 'identifier_value'] as const
/** `reg_type` is a column of files that other servers take (public-standard.md N8). */
const OPTIONAL = ['reference_id', 'reg_type'] as const
const COLUMNS: readonly string[] = [...REQUIRED, ...OPTIONAL]
const HEADER_RULE = `must be the header ${REQUIRED.join(',')}, with or without ${OPTIONAL.join(' and ')}`
const DELIMITER = ','

/**
 * @param longest bytes of a row
 * @throws RequestFault err.request.bad that names the line
 */
export function csvItems({ name }: Operation, { message_ts }: IncomingHeader, longest: number) {
  const asks = CSV_ITEMS.get(name)
  const cutter = new RowCutter({
    delimiter: DELIMITER,
    longest,
    tooLong: (line) =>
      problem(line, `is longer than ${longest} bytes; look for a quotation mark that is never closed`),
  })
  let columns: readonly string[] | null = null

  const itemOf = (row: Row): LinedItem[] => {
    const cells = cellsOf(row)
    if (cells === null) return []
    if (columns === null) {
      columns = checkedColumns(row.line, cells)
      return []
    }
    if (cells.length !== columns.length) {
      throw problem(row.line, `has ${cells.length} cells, and the header line has ${columns.length}`)
    }
    const cell = (column: string): string => cells[columns?.indexOf(column) ?? -1] ?? ''
    const item = asks?.({
      type: cell('identifier_type'),
      value: cell('identifier_value'),
      reg_type: cell('reg_type').trim(),
    })
    const reference_id = cell('reference_id') || String(row.line)
    return [{ line: row.line, item: { reference_id, timestamp: message_ts, ...item } }]
  }
  return {
    push: (bytes: Buffer): LinedItem[] => cutter.push(bytes).flatMap(itemOf),
    finish(): LinedItem[] {
      const items = cutter.finish().flatMap(itemOf)
      if (columns === null) throw problem(1, HEADER_RULE)
      return items
    },
  }
}

/** Null for a blank row. */
function cellsOf({ line, bytes }: Row): readonly string[] | null {
  if (isBlank(bytes)) return null
  if (!isUtf8(bytes)) throw problem(line, 'must be UTF-8')
  const text = bytes.toString('utf8')
  const cells = splitRow(text, DELIMITER)
  if (typeof cells === 'string') throw problem(line, cells)
  if (text.includes('\0')) throw problem(line, 'must not have a NUL character')
  return cells
}

function checkedColumns(line: number, cells: readonly string[]): readonly string[] {
  const columns = cells.map((cell) => cell.trim())
  const known = columns.every((column) => COLUMNS.includes(column))
  const complete = REQUIRED.every((column) => columns.includes(column))
  if (known && complete && new Set(columns).size === columns.length) return columns
  throw problem(line, HEADER_RULE)
}

const problem = (line: number, rule: string): RequestFault => lineProblem(line, `: ${rule}`)
