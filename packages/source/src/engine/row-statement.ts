/** Makes the statement that reads rows of a source, each with its rows in child tables, and reads the result. */

import type { ColumnType, ColumnTypesByName, RecordColumnTypes } from './column-type.ts'
import type { ConditionWriter } from './conditions.ts'
import type { Statement } from './connections.ts'
import type { RowSelection, SourceRow } from './engine.ts'
import type { MappedTable, RecordMapping } from './mapped-records.ts'
import type { SqlNameWriter } from './names.ts'
import type { Parameters } from './parameters.ts'

/** The most rows that one record may have in one child table. */
export const MOST_CHILD_ROWS = 1_000

/** The functions with which an engine writes pieces of the statement as SQL. */
export interface RowSqlWriter {
  readonly names: SqlNameWriter
  readonly conditions: ConditionWriter
  parameters(): Parameters
  /** Makes the SQL condition that the column has one of these texts, which become parameters. */
  oneOf(column: string, texts: readonly string[], type: ColumnType, parameters: Parameters): string
  limit(rows: number, parameters: Parameters): string
  /**
   * Makes the SQL of a subquery for the rows of a child as one text, in any order.
   * @param cells SQL of their values as texts
   * @param condition on the rows of `from`
   */
  childRows(cells: readonly string[], from: string, condition: string): string
  /** Reads the text of `childRows`; null: rows are missing in it, because there are too many or they are too long. */
  readChildRows(text: string | null): readonly (readonly (string | null)[])[] | null
}

/**
 * Makes the statement that reads the rows asked for, in the order of their keys.
 * @returns null: no row can have one of the keys, or no key can be the text of `after`
 */
export function rowStatement(
  sql: RowSqlWriter,
  records: RecordMapping,
  types: RecordColumnTypes,
  { needed, keys, after, limit }: RowSelection,
): Statement | null {
  const { key: keyType, parts } = types
  const parameters = sql.parameters()
  const { key, beginning, texts } = selectPartsByTypes.get(types) ?? makeSelectParts(sql, records, types)
  const conditions: string[] = []
  const condition = sql.conditions.conditionOf(records, parts, needed, parameters)
  if (condition !== null) conditions.push(condition)
  if (keys !== null) {
    const usable = keys.flatMap((one) => keyType.parameter(one) ?? [])
    if (usable.length === 0) return null
    conditions.push(sql.oneOf(key, usable, keyType, parameters))
  }
  // A view may have rows without a key. They are no records, and some databases sort them first.
  if (keys === null && after === null) conditions.push(`${key} is not null`)
  if (after !== null) {
    const mark = keyType.parameter(after)
    if (mark === null) return null
    conditions.push(`${key} > ${parameters.add(mark, keyType.sql)}`)
  }
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  const rest = `${where} order by ${key} limit ${sql.limit(limit, parameters)}`
  const text = texts.get(rest) ?? beginning + rest
  if (texts.size >= MOST_CACHED_STATEMENT_TEXTS) texts.clear()
  texts.set(rest, text)
  return { text, values: parameters.values }
}

/** The most statement texts that are kept for one record type. When so many are kept, the next statement drops them all. */
const MOST_CACHED_STATEMENT_TEXTS = 100

/**
 * Finds the key after which the next portion of rows begins; null: this portion is the last one. An empty text is a key too.
 * @param limit the most rows of a portion
 * @param after the key after which this portion began
 */
export function nextKey(rows: readonly SourceRow[], limit: number, after: string | null): string | null {
  const last = rows.length < limit ? undefined : rows.at(-1)
  // When the last key is `after` again, the next portion would have the same rows.
  return last === undefined || last.key === after ? null : last.key
}

/** The parts of the statement that are kept from one question about the same records to the next. */
interface SelectParts {
  readonly key: string
  /** The text of the statement up to its conditions. */
  readonly beginning: string
  /**
   * The whole text of each statement, by the part that follows `beginning` in it. A driver finds its prepared statement faster
   * when the text is the same string object.
   */
  readonly texts: Map<string, string>
}

/** The parts, by the object of column types. When the types are read again, the object is new, and new parts are made for it. */
const selectPartsByTypes = new WeakMap<RecordColumnTypes, SelectParts>()

function makeSelectParts(sql: RowSqlWriter, { own, children }: RecordMapping, types: RecordColumnTypes): SelectParts {
  const { key: keyType, parts } = types
  const { quoted, tableOf } = sql.names
  const key = `own.${quoted(own.key)}`
  const cellsOf = (alias: string, part: MappedTable, of: ColumnTypesByName | undefined): readonly string[] =>
    part.columns.map((column) => {
      const name = `${alias}.${quoted(column)}`
      return of?.get(column)?.read(name) ?? name
    })
  const values = [
    keyType.read(key),
    ...cellsOf('own', own, parts[0]),
    ...children.map((child, at) => {
      const cells = cellsOf('child', child, parts[at + 1])
      return `(${sql.childRows(cells, tableOf(child, 'child'), `child.${quoted(child.key)} = ${key}`)})`
    }),
  ]
  const select = { key, beginning: `select ${values.join(', ')} from ${tableOf(own, 'own')}`, texts: new Map() }
  selectPartsByTypes.set(types, select)
  return select
}

/** Makes the rows of a result into `SourceRow`s: a missing value becomes '', and the rows of a child are sorted. */
export function readSourceRows(
  sql: RowSqlWriter,
  { own, children }: RecordMapping,
  { parts }: RecordColumnTypes,
  rows: readonly (readonly (string | null)[])[],
): readonly SourceRow[] {
  const readers = [own, ...children].map((part, at) => part.columns.map((column) => parts[at]?.get(column)?.cell ?? String))
  const cellsOf = (values: readonly (string | null)[], at: number): readonly string[] =>
    values.map((value, column) => (value === null ? '' : (readers[at]?.[column]?.(value) ?? value)))
  return rows.map(([key, ...values]) => ({
    key: key ?? '',
    cells: cellsOf(values.slice(0, own.columns.length), 0),
    children: values.slice(own.columns.length).map((text, at) => {
      const found = sql.readChildRows(text)
      if (found === null || found.length > MOST_CHILD_ROWS) return null
      return found.map((cells) => cellsOf(cells, at + 1)).toSorted(compareCells)
    }),
  }))
}

/** Compares rows by the texts of their cells, from the first cell on. */
function compareCells(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((cell, column) => cell !== other[column])
  return at === -1 ? 0 : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1
}
