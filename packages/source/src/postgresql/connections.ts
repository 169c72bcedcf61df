/** Connections to a PostgreSQL that belongs to another system: few, short, and never able to write. */

import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { outlivingLosses } from '@rollcall/database/database'
import { isStatementTimeout, isUnavailable } from '@rollcall/database/database-errors'
import pg from 'pg'
import { type Environment, readAddress, readCertificates } from '../engine/address.ts'
import { Breaker } from '../engine/breaker.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'

/** Milliseconds that this side gives a statement beyond the time that the database gives it. */
const GRACE = 500
/** Milliseconds that a connection may take to be made, or to be free. */
const CONNECTING = 5_000

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** One state of the database, on one connection. */
export interface State {
  /** Rows as arrays of texts. @throws SearchTimeout, RecordsUnavailable, SourceRefusal */
  run(statement: Statement): Promise<Answer>
  end(): Promise<void>
}

export interface Answer {
  readonly rows: readonly (readonly (string | null)[])[]
  /** The numbers of the types of the columns, in order. */
  readonly types: readonly number[]
}

export interface Connections {
  /** Begins a transaction that only reads, in one state. @throws RecordsUnavailable */
  begin(): Promise<State>
  /** Whether the database did not answer lately. */
  isAway(): boolean
  close(): Promise<void>
}

export function openConnections(file: SourceFile, env: Environment): Connections {
  const address = readAddress(file, env)
  if (!/^postgres(?:ql)?:$/.test(address.protocol)) {
    throw new SourceRefusal('url: the address must begin with postgresql://', ['url'])
  }
  const ca = readCertificates(file)
  // Those of the address would take the place of the certificates.
  if (ca !== null) for (const name of ['sslmode', 'sslrootcert']) address.searchParams.delete(name)
  const pool = outlivingLosses(
    new pg.Pool({
      connectionString: address.href,
      ...(ca !== null && { ssl: { ca } }),
      max: file.pool,
      application_name: 'rollcall',
      connectionTimeoutMillis: CONNECTING,
      query_timeout: file.statementTimeout + GRACE,
      keepAlive: true,
      // Every value is its text.
      types: { getTypeParser: () => String },
    }),
  )
  const breaker = new Breaker()
  let held = 0
  return {
    begin: () =>
      breaker.run(
        async () => {
          try {
            const { run, end } = await begin(pool, file, breaker)
            held += 1
            const release = (): Promise<void> => {
              held -= 1
              return end()
            }
            return { run, end: release }
          } catch (error) {
            // Whatever the reason is: nothing of ours is in these statements.
            throw new RecordsUnavailable(error)
          }
        },
        // Where all connections are in use, the database is busy with us and not away.
        (error) => isAway(error) && held < file.pool,
      ),
    isAway: () => breaker.isOpen,
    close: () => pool.end(),
  }
}

const isAway = (error: unknown): boolean => error instanceof RecordsUnavailable

/** Our own words alone: only they may hold several statements. */
const beginning = ({ statementTimeout, timeZone }: SourceFile): string =>
  [
    'begin isolation level repeatable read read only',
    `set local statement_timeout = ${statementTimeout}`,
    `set local idle_in_transaction_session_timeout = ${statementTimeout + 60_000}`,
    `set local datestyle = 'ISO, YMD'`,
    `set local timezone = '${timeZone}'`,
    `set local extra_float_digits = 1`,
    'set local jit = off',
  ].join('; ')

async function begin(pool: pg.Pool, file: SourceFile, breaker: Breaker): Promise<State> {
  const client = await pool.connect()
  const seconds = file.statementTimeout / 1_000
  let failed = true
  try {
    await client.query(beginning(file))
    failed = false
  } finally {
    if (failed) client.release(true)
  }
  return {
    async run({ text, values }) {
      try {
        // The extended protocol takes one statement: what the operator wrote cannot end this transaction and begin another.
        const config = { text, values: [...values], rowMode: 'array' as const, queryMode: 'extended' }
        const { rows, fields } = await client.query<(string | null)[]>(config)
        return { rows, types: fields.map(({ dataTypeID }) => dataTypeID) }
      } catch (error) {
        failed = true
        if (isStatementTimeout(error)) throw new SearchTimeout(new RecordsUnavailable(error), seconds)
        if (isUnavailable(error)) breaker.failed()
        throw unavailable(error)
      }
    },
    async end() {
      if (!failed) {
        try {
          await client.query('commit')
        } catch {
          failed = true
        }
      }
      client.release(failed)
    },
  }
}

/**
 * The failure of a database that is away as one that may pass, and so is one whose tables or rights are other than they were. Any
 * other is an error of the statement.
 */
function unavailable(error: unknown): unknown {
  return isUnavailable(error) || hasChanged(error) ? new RecordsUnavailable(error) : error
}

/** Whether a table, a column or a right is missing (SQLSTATE class 42). */
export const hasChanged = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code?.startsWith('42') === true
