/** Connections to a MariaDB or MySQL of another system. */

import { isIP } from 'node:net'
import { oncePerObject } from '@rollcall/core/model/once-per'
import type { FieldPacket, Pool, PoolConnection, PoolOptions } from 'mysql2'
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
  TransactionNotBegun,
} from '../engine/connections.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { makeRefusal } from '../engine/source-refusal.ts'
import { AnswerTimeLimit } from '../engine/time-limit.ts'
import { failureOf } from './failures.ts'

/** A column of a result, in the words of the driver. */
export type ResultColumn = Pick<FieldPacket, 'columnType' | 'flags' | 'decimals' | 'columnLength'>
export type MariadbSnapshot = DatabaseSnapshot<ResultColumn>

/** The most statements that a connection keeps prepared. Look-ups repeat a few. */
const MOST_PREPARED_STATEMENTS = 50

/** The driver's options for each `ssl-mode` of the address. */
const OPTIONS_BY_SSL_MODE: Readonly<Record<string, Pick<PoolOptions, 'ssl'>>> = {
  DISABLED: {},
  REQUIRED: { ssl: { rejectUnauthorized: false } },
  VERIFY_IDENTITY: { ssl: { rejectUnauthorized: true, verifyIdentity: true } },
}

/**
 * Reads how to connect.
 * @throws SourceRefusal the address, or a file that the source names, cannot be read, or the address is not allowed
 */
export function readConnectionOptions(file: SourceFile, env: EnvironmentVariables): PoolOptions {
  const address = readAddress(file, env)
  const ca = readCertificates(file)
  if (!/^(?:mariadb|mysql):$/.test(address.protocol)) {
    throw makeRefusal(['url'], 'the address must begin with mariadb:// or mysql://')
  }
  // Other parameters are refused: a misspelt one for encryption would be ignored, and the connection be in clear.
  if ([...address.searchParams.keys()].some((name) => name !== 'ssl-mode' && name !== 'socket')) {
    throw makeRefusal(['url'], 'after ? the address may have ssl-mode and socket, and nothing else')
  }
  const mode = address.searchParams.get('ssl-mode') ?? 'DISABLED'
  if (!Object.hasOwn(OPTIONS_BY_SSL_MODE, mode)) {
    throw makeRefusal(['url'], `ssl-mode must be ${Object.keys(OPTIONS_BY_SSL_MODE).join(', ')}`)
  }
  const socket = address.searchParams.get('socket')
  // The driver does not compare an IP address with the names in a certificate.
  if ((ca !== null || mode === 'VERIFY_IDENTITY') && socket === null && isIP(address.hostname.replace(/^\[|\]$/g, ''))) {
    throw makeRefusal(['url'], 'to be verified, the address must have the name of the host in its certificate')
  }
  const text = (given: string): string => {
    try {
      return decodeURIComponent(given)
    } catch {
      throw makeRefusal(['url'], 'a % in the address must be written as %25')
    }
  }
  return {
    ...(socket === null
      ? { host: text(address.hostname).replace(/^\[|\]$/g, ''), port: Number(address.port || 3306) }
      : { socketPath: socket }),
    user: text(address.username),
    password: text(address.password),
    database: text(address.pathname.slice(1)),
    ...(ca === null ? OPTIONS_BY_SSL_MODE[mode] : { ssl: { ca, rejectUnauthorized: true, verifyIdentity: true } }),
    connectionLimit: file.pool,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxPreparedStatements: MOST_PREPARED_STATEMENTS,
    // SQL of the operator can only be one statement, and the server cannot request a file of this machine.
    multipleStatements: false,
    flags: ['-LOCAL_FILES'],
    // These options make texts of values that a statement does not already read as text.
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    rowsAsArray: true,
    // Otherwise the driver records where each statement was asked for, which takes a tenth of the time of a look-up.
    trace: false,
  }
}

export function openConnections(file: SourceFile, options: PoolOptions): Connections<ResultColumn> {
  let opened: Promise<Pool> | undefined
  const heldOf = oncePerObject(
    (one: PoolConnection) => new MariadbConnection(one, file.statementTimeout + STATEMENT_TIMEOUT_GRACE_MS),
  )
  return connectionsOf(file, {
    async begin() {
      opened ??= openPool(options)
      return await beginTransaction(heldOf(await takeConnection(await opened)), file)
    },
    failureOf,
    async close() {
      // If the pool could not be opened, `begin` has thrown the error, and this line throws the same error again.
      const pool = await opened
      await new Promise<void>((resolve) => (pool === undefined ? resolve() : pool.end(() => resolve())))
    },
  })
}

/** Opens a pool. The driver is loaded here, so that processes without such a source do not load it. */
async function openPool(options: PoolOptions): Promise<Pool> {
  const { createPool } = await import('mysql2')
  const pool = createPool(options)
  // The pool itself removes a connection that is lost while unused. Without this handler, the error would end the process.
  pool.on('connection', (connection) => connection.on('error', () => undefined))
  return pool
}

/** Gets a connection within `CONNECT_TIMEOUT_MS`, so that nobody waits longer for a busy pool. */
function takeConnection(pool: Pool): Promise<PoolConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<PoolConnection>()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reject(new Error('no connection was free'))
  }, CONNECT_TIMEOUT_MS)
  pool.getConnection((error, connection) => {
    clearTimeout(timer)
    if (error) reject(error)
    else if (isLate) connection.release()
    else resolve(connection)
  })
  return promise
}

/**
 * The settings of a session. The setting that limits the time of a statement has another name in each server. So it is in a
 * comment that only one server executes: `M!` is for MariaDB, `!50708` for MySQL.
 */
const sessionSettingsSql = ({ statementTimeout }: SourceFile): string =>
  [
    `set session character_set_client = utf8mb4, character_set_results = utf8mb4, collation_connection = utf8mb4_unicode_ci`,
    // The usual quoting of texts: ' or ", with a backslash as escape. Administrators write SQL so.
    `sql_mode = ''`,
    `time_zone = '+00:00'`,
    // This limit also ends a wait for a lock while a statement is prepared. The limits in the last line do not end that wait.
    `lock_wait_timeout = ${Math.ceil(statementTimeout / 1_000)}`,
    `group_concat_max_len = 1048576`,
    `/*M! max_statement_time = ${statementTimeout / 1_000} */ /*!50708 max_execution_time = ${statementTimeout} */`,
  ].join(', ')

/** Values of the catalog and of plans may be numbers; they are made texts. */
const textOrNull = (value: unknown): string | null => (value === null || typeof value === 'string' ? value : String(value))

/** The milliseconds for which locks on the definitions of tables may outlast a statement. */
const METADATA_LOCK_HOLD_MS = 50

/** A connection of the pool to a MariaDB or MySQL, with the state of its transaction. */
class MariadbConnection {
  readonly connection: PoolConnection
  isSetUp = false
  /**
   * True while a transaction is open that only reads, and in which each statement reads the newest state. False in a transaction
   * with a snapshot.
   */
  isOpen = false
  readonly #limit: AnswerTimeLimit
  readonly #unlock: NodeJS.Timeout
  #isLocking = false

  constructor(connection: PoolConnection, timeout: number) {
    this.connection = connection
    this.#limit = new AnswerTimeLimit(timeout, makeLateError)
    this.#unlock = setTimeout(() => this.#endLocks(), METADATA_LOCK_HOLD_MS).unref()
  }

  query(sql: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.connection.query(sql, (error) => (error ? reject(error) : resolve()))
    return this.#limit.wait(promise)
  }

  /** Prepares and runs a statement. It can only be one: SQL of the operator cannot end the transaction and begin another. */
  execute({ text, values }: Statement): Promise<StatementResult<ResultColumn>> {
    if (this.isOpen && !this.#isLocking) {
      this.#isLocking = true
      this.#unlock.refresh()
    }
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult<ResultColumn>>()
    this.connection.execute(text, values as string[], (error, rows, fields) =>
      error ? reject(error) : resolve(statementResultOf(rows, fields)),
    )
    return this.#limit.wait(promise)
  }

  /**
   * Ends the locks of the open transaction, so that nobody who wants to alter a table waits for them. The driver sends the
   * rollback after the statement that runs now, and before later statements.
   */
  #endLocks(): void {
    this.#isLocking = false
    if (!this.isOpen) return
    // `and chain` begins another transaction of the same kind, which only reads.
    this.connection.query('rollback and chain', (error) => {
      if (error) this.connection.destroy()
    })
  }
}

const makeLateError = (): Error => Object.assign(new Error('no answer in time'), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' })

async function beginTransaction(held: MariadbConnection, file: SourceFile): Promise<Transaction<ResultColumn>> {
  const { connection } = held
  let hasSnapshot = false
  if (!held.isSetUp) {
    try {
      await held.query(sessionSettingsSql(file))
      await held.query('set session transaction isolation level read committed')
      held.isSetUp = true
    } catch (error) {
      connection.destroy()
      throw error
    }
  }
  /**
   * Begins a transaction. If the work has only one statement (`isLast`), the transaction stays open for later callers.
   * Otherwise all statements read one snapshot, whose place in the log can be read, and the transaction ends with the work.
   */
  const start = async (isLast: boolean): Promise<void> => {
    if (isLast) {
      await held.query('start transaction read only')
      held.isOpen = true
      return
    }
    const wasOpen = held.isOpen
    // `isOpen` is set before the wait. Otherwise `#endLocks` could send `rollback and chain` after this rollback, and so begin
    // another transaction.
    held.isOpen = false
    if (wasOpen) await held.query('rollback')
    await held.query('set transaction isolation level repeatable read')
    await held.query('start transaction with consistent snapshot, read only')
    hasSnapshot = true
  }
  return {
    isLimited: false,
    async run(statement, { isLast }) {
      if (!hasSnapshot && !(isLast && held.isOpen)) {
        await start(isLast).catch((error) => Promise.reject(new TransactionNotBegun(error)))
      }
      return await held.execute(statement)
    },
    async end(isBroken) {
      if (isBroken) {
        held.isOpen = false
        return connection.destroy()
      }
      if (!hasSnapshot) return connection.release()
      // The rollback is not awaited: the connection returns to the pool when it has ended.
      held.query('rollback').then(
        () => connection.release(),
        () => connection.destroy(),
      )
    },
  }
}

/** Makes the answer of what the driver returns. A statement such as SET ROLE has no rows. */
const statementResultOf = (rows: unknown, fields: readonly FieldPacket[]): StatementResult<ResultColumn> =>
  Array.isArray(rows)
    ? { rows: rows.map((row: unknown[]) => row.map(textOrNull)), types: fields, names: fields.map(({ name }) => name) }
    : { rows: [], types: [], names: [] }
