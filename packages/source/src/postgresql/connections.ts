/** Connections to a PostgreSQL of another system. */

import { outlivingLosses } from '@rollcall/database/database'
import pg from 'pg'
import { type Environment, readAddress, readCertificates } from '../engine/address.ts'
import {
  CONNECTING,
  type Connections,
  connectionsOf,
  GRACE,
  type State as StateOf,
  type Transaction,
} from '../engine/connections.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import { failureOf } from './failures.ts'

/** Types of columns are their numbers in the catalog. */
export type State = StateOf<number>

/** How a connection is made. @throws SourceRefusal the address, or a file that the source names, cannot be read */
export function connectionTo(file: SourceFile, env: Environment): pg.ClientConfig {
  const address = readAddress(file, env)
  if (!/^postgres(?:ql)?:$/.test(address.protocol)) {
    throw new SourceRefusal('url: the address must begin with postgresql://', ['url'])
  }
  const ca = readCertificates(file)
  // SSL parameters of the address would replace the certificates of the file.
  if (ca !== null) for (const name of ['sslmode', 'sslrootcert']) address.searchParams.delete(name)
  return {
    connectionString: address.href,
    ...(ca !== null && { ssl: { ca } }),
    application_name: 'rollcall',
    connectionTimeoutMillis: CONNECTING,
    keepAlive: true,
  }
}

export function openConnections(file: SourceFile, connection: pg.ClientConfig): Connections<number> {
  const pool = outlivingLosses(
    new pg.Pool({
      ...connection,
      max: file.pool,
      query_timeout: file.statementTimeout + GRACE,
      // Every value is read as a text.
      types: { getTypeParser: () => String },
    }),
  )
  return connectionsOf(file, { begin: () => begin(pool, file), failureOf, close: () => pool.end() })
}

/** The first statements of a transaction: our own words, so they may be several. */
const beginning = ({ statementTimeout, timeZone, mirror }: SourceFile): string =>
  [
    'begin isolation level repeatable read read only',
    `set local statement_timeout = ${statementTimeout}`,
    `set local idle_in_transaction_session_timeout = ${statementTimeout + 60_000}`,
    `set local datestyle = 'ISO, YMD'`,
    `set local timezone = '${timeZone}'`,
    `set local extra_float_digits = 1`,
    'set local jit = off',
    // A row that a row-level policy hides would be taken for a deleted one; with this setting the statement fails
    // instead.
    ...(mirror === null ? [] : ['set local row_security = off']),
    'savepoint beginning',
  ].join('; ')

async function begin(pool: pg.Pool, file: SourceFile): Promise<Transaction<number>> {
  const client = await pool.connect()
  try {
    await client.query(beginning(file))
  } catch (error) {
    client.release(true)
    throw error
  }
  return {
    async run({ text, values }) {
      // The extended protocol takes one statement only: SQL of the operator cannot end this transaction and begin
      // another.
      const config = { text, values: [...values], rowMode: 'array' as const, queryMode: 'extended' }
      const { rows, fields } = await client.query<(string | null)[]>(config)
      return { rows, types: fields.map(({ dataTypeID }) => dataTypeID), names: fields.map(({ name }) => name) }
    },
    limit: (time) => client.query(`set local statement_timeout = ${time}`),
    goOn: () => client.query('rollback to savepoint beginning'),
    async end(isBroken) {
      let isLost = isBroken
      if (!isLost) {
        await client.query('commit').catch(() => {
          isLost = true
        })
      }
      client.release(isLost)
    },
  }
}
