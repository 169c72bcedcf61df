/** Setting columns of many records at once. */

import { quoteName } from '@rollcall/database/names'
import type { ClientBase } from 'pg'
import type { RecordColumn } from './columns.ts'

/**
 * One statement for all: the new values travel as JSON text, each read by its column's own input function.
 * @param rows with their ids, and a text or null by the name of every column
 * @param others what else is set, as SQL
 */
export async function updateRows(
  client: ClientBase,
  table: string,
  columns: readonly Pick<RecordColumn, 'name' | 'sql_type'>[],
  rows: readonly { readonly [column: string]: unknown }[],
  others: readonly string[] = [],
): Promise<void> {
  const set = columns.map(({ name, sql_type }) => {
    // A text that is meant for a column of JSON would become a JSON string there.
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
