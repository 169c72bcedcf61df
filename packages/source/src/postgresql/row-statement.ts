/** The statement that reads rows of a source: the own table, with the rows of its children in one answer. */

import type { RowsAsked, SourceRow } from '../engine/engine.ts'
import type { MappedPart, MappedRecords } from '../engine/mapped-records.ts'
import type { ColumnType } from './column-types.ts'
import { conditionOf, Parameters, type PartTypes } from './conditions.ts'
import type { Statement } from './connections.ts'
import { quoted, tableOf } from './names.ts'

/** The types of the parts of records, and of the key. */
export interface KnownTypes {
  readonly key: ColumnType
  /** The column types of the own table, then those of each child, in order. */
  readonly parts: readonly PartTypes[]
}

/** @returns null: no row can have one of the keys */
export function rowStatement(
  records: MappedRecords,
  { key: keyType, parts }: KnownTypes,
  { needed, keys, after, limit }: RowsAsked,
): Statement | null {
  const { own, children } = records
  const parameters = new Parameters()
  const key = `own.${quoted(own.key)}`
  const conditions: string[] = []
  const condition = conditionOf(records, parts, needed, parameters)
  if (condition !== null) conditions.push(condition)
  if (keys !== null) {
    const usable = keys.flatMap((one) => keyType.parameter(one) ?? [])
    if (usable.length === 0) return null
    conditions.push(`${key} = any(${parameters.add(usable, `${keyType.sql}[]`)})`)
  }
  if (after !== null) {
    const mark = keyType.parameter(after)
    if (mark === null) return null
    conditions.push(`${key} > ${parameters.add(mark, keyType.sql)}`)
  }
  const values = [
    `${key}::text`,
    ...own.columns.map((column) => read('own', column, parts[0])),
    ...children.map((child, at) => `(${childRows(child, parts[at + 1], key)})`),
  ]
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  return {
    text: `select ${values.join(', ')} from ${tableOf(own, 'own')}${where} order by ${key} limit ${parameters.add(limit, 'int4')}`,
    values: parameters.values,
  }
}

const read = (alias: string, column: string, types: PartTypes | undefined): string => {
  const name = `${alias}.${quoted(column)}`
  return types?.get(column)?.read(name) ?? `${name}::text`
}

/** The rows of a child as one JSON text, in an order that does not change. */
function childRows(child: MappedPart, types: PartTypes | undefined, key: string): string {
  const cells = child.columns.map((column) => read('child', column, types))
  const row = `json_build_array(${cells.join(', ')})`
  const order = cells.map((cell) => `${cell} collate "C"`).join(', ')
  return `select json_agg(${row} order by ${order})::text from ${tableOf(child, 'child')} where child.${quoted(child.key)} = ${key}`
}

/** The rows of an answer. */
export function rowsOf({ own }: MappedRecords, rows: readonly (readonly (string | null)[])[]): readonly SourceRow[] {
  return rows.map(([key, ...values]) => {
    const children = values.slice(own.columns.length).map((text): string[][] => {
      const found: (string | null)[][] = text === null ? [] : JSON.parse(text)
      return found.map((cells) => cells.map((cell) => cell ?? ''))
    })
    return { key: key ?? '', cells: values.slice(0, own.columns.length).map((cell) => cell ?? ''), children }
  })
}
