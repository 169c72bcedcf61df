/** Sets columns of many records in one statement. */

import { quoteName } from '@rollcall/database/names'
import type { ClientBase } from 'pg'
import type { RecordColumn } from './columns.ts'

/**
 * Sets columns in one statement. The new values are JSON text, which PostgreSQL casts to the type of each column.
 * @param rows the ids, and for every column, by its name, a text, a number or null
 * @param others SQL of further assignments
 */
export async function updateRows(
  client: ClientBase,
  table: string,
  columns: readonly Pick<RecordColumn, 'name' | 'sql_type'>[],
  rows: readonly { readonly [column: string]: unknown }[],
  others: readonly string[] = [],
): Promise<void> {
  const set = columns.map(({ name, sql_type }) => {
    // The value is a JSON text. Without the cast to jsonb, the column would get a JSON string instead of the array.
    return `${quoteName(name)} = new.${quoteName(name)}${sql_type === 'jsonb' ? '::jsonb' : ''}`
  })
  const types = columns.map(({ name, sql_type }) => {
    return `${quoteName(name)} ${sql_type === 'jsonb' ? 'text' : sql_type}`
  })
  await client.query(
    `update ${quoteName(table)} as old set ${[...set, ...others].join(', ')}
     from json_to_recordset($1::json) as new(${['id bigint', ...types].join(', ')}) where old.id = new.id`,
    [JSON.stringify(rows)],
  )
}
