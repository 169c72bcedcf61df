/** COPY FROM STDIN in PostgreSQL's text format. */
import { finished } from 'node:stream/promises'
import type { ClientBase } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { quoteName } from './names.ts'

/** Large enough to make few writes, small enough that the server works while the rest is under way. */
const PIECE_BYTES = 128 * 1024

const SPECIAL = /[\\\n\r\t]/
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One field; null is SQL's null. */
export function copyField(value: string | null): string {
  if (value === null) return '\\N'
  return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, (special) => ESCAPES[special] ?? special) : value
}

/**
 * Sends rows into a table.
 * @param rows fields joined by tabs, every row ended by a newline
 * @throws pg's DatabaseError; the connection can be used again, its transaction must be rolled back
 */
export async function copyRows(
  client: ClientBase,
  table: string,
  columns: readonly string[],
  rows: string,
): Promise<void> {
  const names = columns.map(quoteName).join(', ')
  const stream = client.query(copyFrom(`copy ${quoteName(table)} (${names}) from stdin`))
  const done = finished(stream)
  const bytes = Buffer.from(rows)
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    stream.write(bytes.subarray(start, start + PIECE_BYTES))
  }
  stream.end()
  await done
}
