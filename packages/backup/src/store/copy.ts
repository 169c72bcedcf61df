/** Tables over COPY, out of one database and into another, as PostgreSQL's text format. */
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { type CatalogTable, quoteFound, tableSql } from './catalog.ts'

const target = (table: CatalogTable): string => `${tableSql(table)} (${table.columns.map(quoteFound).join(', ')})`

/** The rows of a table in pieces of any length. @returns how many rows */
export async function* copyOut(client: PoolClient, table: CatalogTable): AsyncGenerator<Buffer, number> {
  // A table without columns has nothing but a number of rows, which nothing of ours has.
  if (table.columns.length === 0) return 0
  const stream = client.query(copyTo(`copy ${target(table)} to stdout`))
  for await (const piece of stream) yield piece as Buffer
  return stream.rowCount ?? 0
}

export interface CopyIn {
  write(piece: Buffer): Promise<void>
  /** @returns how many rows */
  end(): Promise<number>
}

/** @throws pg's DatabaseError, from `write` or `end`; the transaction must be rolled back */
export function copyIn(client: PoolClient, table: CatalogTable): CopyIn {
  const stream = client.query(copyFrom(`copy ${target(table)} from stdin`))
  const done = finished(stream)
  // An error between two writes is thrown by the next write.
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
