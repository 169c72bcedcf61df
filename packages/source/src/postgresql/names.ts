/** Names and pieces of SQL of a source file, as they stand in statements. */
import type { MappedPart } from '../engine/mapped-records.ts'

/** A name as the catalog has it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The rows of a part that count, under an alias. The pieces of the operator end with a line: a comment in one ends there. */
export function tableOf({ from, where }: MappedPart, alias: string): string {
  const table = 'select' in from ? `(${from.select}\n)` : placeOf(from)
  if (where === null) return `${table} as ${alias}`
  return `(select * from ${table} as ${alias} where (${where}\n)) as ${alias}`
}

export const placeOf = ({ schema, table }: { readonly schema: string | null; readonly table: string }): string =>
  schema === null ? quoted(table) : `${quoted(schema)}.${quoted(table)}`
