/** Connections to a PostgreSQL that is a source. */

import { oncePerObject } from '@rollcall/core/model/once-per'
import { ignoreConnectionLosses } from '@rollcall/database/database'
import pg from 'pg'
import { type EnvironmentVariables, readAddress, readCertificates } from '../engine/address.ts'
import {
  CONNECT_TIMEOUT_MS,
  type Connections,
  connectionsOf,
  type DatabaseSnapshot,
  STATEMENT_TIMEOUT_GRACE_MS,
  type Statement,
  type StatementResult,
  type Transaction,
} from '../engine/connections.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { makeRefusal } from '../engine/source-refusal.ts'
import { AnswerTimeLimit } from '../engine/time-limit.ts'
import { failureOf } from './failures.ts'
import { OutdatedStatement, sendStatementsTogether } from './one-piece.ts'

/** A snapshot of a PostgreSQL. In its answers, the types of columns are their numbers in the catalog. */
export type PostgresSnapshot = DatabaseSnapshot<number>

/**
 * Reads how to connect.
 * @throws SourceRefusal the address, or a file that the source names, cannot be read, or is no address of PostgreSQL
 */
export function readConnectionConfig(file: SourceFile, env: EnvironmentVariables): pg.ClientConfig {
  const address = readAddress(file, env)
  if (!/^postgres(?:ql)?:$/.test(address.protocol)) {
    throw makeRefusal(['url'], 'the address must begin with postgresql://')
  }
  const ca = readCertificates(file)
  // These parameters of the address are removed, because they would replace the certificates of the source file.
  if (ca !== null) for (const name of ['sslmode', 'sslrootcert']) address.searchParams.delete(name)
  return {
    connectionString: address.href,
    ...(ca !== null && { ssl: { ca } }),
    application_name: 'rollcall',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  }
}

export function openConnections(file: SourceFile, connection: pg.ClientConfig): Connections<number> {
  const pool = ignoreConnectionLosses(
    new pg.Pool({
      ...connection,
      max: file.pool,
      // Every value is read as a text.
      types: { getTypeParser: () => String },
    }),
  )
  const settings = settingsStatementOf(file)
  const limitOf = oncePerObject(
    (_: pg.ClientBase) => new AnswerTimeLimit(file.statementTimeout + STATEMENT_TIMEOUT_GRACE_MS, makeLateError),
  )
  return connectionsOf(file, {
    async begin() {
      const client = await pool.connect()
      return makeTransaction(client, (before, asked) => sendStatementsTogether(client, before, asked, limitOf(client)), settings)
    },
    failureOf,
    close: () => pool.end(),
  })
}

/** The error of the driver for an answer that comes too late. */
const makeLateError = (): Error => new Error('Query read timeout')

const makePlainStatement = (text: string): Statement => ({ text, values: [] })

const BEGIN_SNAPSHOT = makePlainStatement('begin isolation level repeatable read read only')
const SET_SAVEPOINT = makePlainStatement('savepoint beginning')
const ROLL_BACK_TO_SAVEPOINT = makePlainStatement('rollback to savepoint beginning')
const COMMIT_TRANSACTION = makePlainStatement('commit')

/**
 * Returns a function that makes the statement with the settings of a transaction. This statement also takes the snapshot;
 * afterwards PostgreSQL lets no statement make the transaction writable. `limit`: the milliseconds for each later statement.
 */
function settingsStatementOf({ statementTimeout, timeZone, mirror }: SourceFile): (limit: number) => Statement {
  const fixed: Readonly<Record<string, string>> = {
    transaction_read_only: 'on',
    idle_in_transaction_session_timeout: String(statementTimeout + 60_000),
    datestyle: 'ISO, YMD',
    timezone: timeZone,
    extra_float_digits: '1',
    jit: 'off',
    // A row that a row-level policy hides would be taken for a deleted one. With this setting the statement fails instead.
    ...(mirror !== null && { row_security: 'off' }),
  }
  const values = Object.values(fixed)
  const names = ['statement_timeout', ...Object.keys(fixed)]
  // One short text as result costs less than a column for each setting.
  const set = names.map((name, at) => `pg_catalog.set_config('${name}', $${at + 1}, true)`)
  const text = `select pg_catalog.concat(${set.join(', ')})`
  return (limit) => ({ text, values: [String(limit), ...values] })
}

/** Makes the transaction of a client. It begins with the first statement. */
function makeTransaction(
  client: pg.PoolClient,
  piece: (before: readonly Statement[], asked: Statement) => Promise<StatementResult<number>>,
  settings: (limit: number) => Statement,
): Transaction<number> {
  let hasBegun = false
  /** The `statement_timeout` that is set in the transaction, in milliseconds; 0: it must be set before the next statement. */
  let limit = 0
  const goOn = async (error: unknown): Promise<void> => {
    limit = 0
    if (hasBegun) await piece([], ROLL_BACK_TO_SAVEPOINT)
    // Without BEGIN: after an error of PostgreSQL, all statements have ended, and the connection can be used. After our own time
    // limit they may still run; then the error is thrown, and the connection counts as broken.
    else if (!(error instanceof pg.DatabaseError)) throw error
  }
  const send: Transaction<number>['run'] = (asked, { time, isLast }) => {
    // Without BEGIN, the statements that are sent together (a piece) are one transaction, which ends with the piece.
    const isOwnTransaction = isLast && !hasBegun
    const before = [
      ...(hasBegun || isOwnTransaction ? [] : [BEGIN_SNAPSHOT]),
      ...(hasBegun && limit === time ? [] : [settings(time)]),
      ...(hasBegun || isOwnTransaction ? [] : [SET_SAVEPOINT]),
    ]
    hasBegun ||= !isOwnTransaction
    // The extended protocol allows one statement only, so SQL of the operator cannot end this transaction and begin another.
    return piece(before, asked)
  }
  return {
    isLimited: true,
    async run(statement, options) {
      const answer = await send(statement, options).catch(async (error: unknown) => {
        if (!(error instanceof OutdatedStatement)) throw error
        await goOn(error.cause)
        return send(statement, options)
      })
      limit = options.time
      return answer
    },
    goOn,
    async end(isBroken) {
      let isLost = isBroken
      if (!isLost && hasBegun) {
        await piece([], COMMIT_TRANSACTION).catch(() => {
          isLost = true
        })
      }
      client.release(isLost)
    },
  }
}
