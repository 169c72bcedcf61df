/** Makes SQL of the names and pieces of SQL in a source file. */

import type { MappedTable } from './mapped-records.ts'

/** Makes SQL of names of tables and columns, as an engine needs it. */
export interface SqlNameWriter {
  /** Quotes a name of the catalog as SQL. */
  quoted(name: string): string
  /**
   * Makes the SQL of a part's rows, under an alias. A line feed follows SQL of the operator, so that a comment at the end of that
   * SQL ends there.
   */
  tableOf(part: Pick<MappedTable, 'from' | 'where'>, alias: string): string
  /** Makes the SQL of a table's name, with its schema if there is one. */
  placeOf(place: { readonly schema: string | null; readonly table: string }): string
}

/**
 * Makes three pieces of SQL to read changed rows: the key column, the column of changes, and the table without the condition
 * `where`. A row that `where` now excludes must be found too, because its record must be deleted.
 */
export const changedRowsSql = ({ quoted, tableOf }: SqlNameWriter, { key, changed, from }: MappedTable) => ({
  key: `one.${quoted(key)}`,
  changed: `one.${quoted(changed ?? '')}`,
  rows: tableOf({ from, where: null }, 'one'),
})

/** Makes the `SqlNameWriter` of an engine. @param mark the engine's quotation mark, which is doubled within a name */
export function createSqlNameWriter(mark: string): SqlNameWriter {
  const quoted = (name: string): string => `${mark}${name.replaceAll(mark, `${mark}${mark}`)}${mark}`
  const placeOf: SqlNameWriter['placeOf'] = ({ schema, table }) =>
    schema === null ? quoted(table) : `${quoted(schema)}.${quoted(table)}`
  return {
    quoted,
    placeOf,
    tableOf({ from, where }, alias) {
      const table = 'select' in from ? `(${from.select}\n)` : placeOf(from)
      if (where === null) return `${table} as ${alias}`
      return `(select * from ${table} as ${alias} where (${where}\n)) as ${alias}`
    },
  }
}
