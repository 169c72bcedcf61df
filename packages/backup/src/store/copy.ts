/** Copies tables out of a database and into another one, in the text format of PostgreSQL's COPY. */
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { type CatalogTable, quoteCatalogName, tableNameSql } from './catalog.ts'

const tableWithColumnsSql = (table: CatalogTable): string =>
  `${tableNameSql(table)} (${table.columns.map(quoteCatalogName).join(', ')})`

/** Yields the rows of a table in pieces; a piece may end within a row. @returns the number of rows */
export async function* copyRowsOut(client: PoolClient, table: CatalogTable): AsyncGenerator<Buffer, number> {
  // COPY needs columns. A table without columns could only have empty rows, and Rollcall has no such table.
  if (table.columns.length === 0) return 0
  const stream = client.query(copyTo(`copy ${tableWithColumnsSql(table)} to stdout`))
  for await (const piece of stream) yield piece as Buffer
  return stream.rowCount ?? 0
}

/** A copy into a table that is under way. */
export interface RunningCopyIn {
  write(piece: Buffer): Promise<void>
  /** Ends the copy. @returns the number of rows */
  end(): Promise<number>
}

/** Begins to copy into a table. When `write` or `end` throws pg's DatabaseError, the transaction must be rolled back. */
export function beginCopyIn(client: PoolClient, table: CatalogTable): RunningCopyIn {
  const stream = client.query(copyFrom(`copy ${tableWithColumnsSql(table)} from stdin`))
  const done = finished(stream)
  // `done` may reject between two writes. The next `write` or `end` throws that error, so it must not count as unhandled.
  done.catch(() => undefined)
  return {
    async write(piece) {
      if (!stream.write(piece)) await Promise.race([once(stream, 'drain'), done])
    },
    async end() {
      stream.end()
      await done
      return stream.rowCount ?? 0
    },
  }
}
