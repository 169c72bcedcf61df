/** Sends rows into a table by COPY FROM STDIN, in PostgreSQL's text format. */
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { ClientBase } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { quoteName } from './names.ts'

/** Rows are sent in pieces. A piece ends after the row with which it reaches this length: fewer writes are faster. */
const LEAST_PIECE_CHARACTERS = 64 * 1024

const ESCAPED_CHARACTER = /[\\\n\r\t]/
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Returns a value as the text of a field for COPY; null gives `\N`. */
export function toCopyField(value: string | null): string {
  if (value === null) return '\\N'
  return ESCAPED_CHARACTER.test(value) ? value.replace(/[\\\n\r\t]/g, (special) => ESCAPES[special] ?? special) : value
}

/**
 * Sends rows into a table in parts, as fast as the server takes them.
 * @param rows fields joined by tabs, every row ended by a newline
 * @throws pg's DatabaseError; the connection can be used again, its transaction must be rolled back
 */
export async function copyRows(
  client: ClientBase,
  table: string,
  columns: readonly string[],
  rows: Iterable<string>,
): Promise<void> {
  const names = columns.map(quoteName).join(', ')
  const stream = client.query(copyFrom(`copy ${quoteName(table)} (${names}) from stdin`))
  const done = finished(stream)
  // Without this handler, an error that comes while the loop waits would end the process. It is thrown later.
  done.catch(() => undefined)
  for (const piece of joinRowsIntoPieces(rows)) {
    if (!stream.write(piece)) await once(stream, 'drain')
  }
  stream.end()
  await done
}

function* joinRowsIntoPieces(rows: Iterable<string>): Generator<Buffer> {
  let text = ''
  for (const row of rows) {
    text += row
    if (text.length < LEAST_PIECE_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
