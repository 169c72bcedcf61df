/** Names and pieces of SQL of a source file, as they stand in statements. */

import type { MappedPart } from './mapped-records.ts'

export interface Names {
  /** A name as the catalog has it. */
  quoted(name: string): string
  /** The rows of a part that count, under an alias. The pieces of the operator end with a line: a comment in one ends there. */
  tableOf(part: Pick<MappedPart, 'from' | 'where'>, alias: string): string
  placeOf(place: { readonly schema: string | null; readonly table: string }): string
}

/** @param mark the character around names; a name that has it writes it twice */
export function namesWith(mark: string): Names {
  const quoted = (name: string): string => `${mark}${name.replaceAll(mark, `${mark}${mark}`)}${mark}`
  const placeOf: Names['placeOf'] = ({ schema, table }) =>
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
