/** Connections to a MariaDB or MySQL of another system. */

import { isIP } from 'node:net'
import { oncePerObject } from '@rollcall/base/shared/once-per'
import type { FieldPacket, Pool, PoolConnection, PoolOptions } from 'mysql2'
import { type Environment, readAddress, readCertificates } from '../engine/address.ts'
import {
  type Answer,
  CONNECT_TIMEOUT,
  type Connections,
  connectionsOf,
  NotBegun,
  STATEMENT_GRACE,
  type State as StateOf,
  type Transaction,
} from '../engine/connections.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import { TimeLimit } from '../engine/time-limit.ts'
import { failureOf } from './failures.ts'

/** A column of a result, in the words of the driver. */
export type Field = Pick<FieldPacket, 'columnType' | 'flags' | 'decimals' | 'columnLength'>
export type State = StateOf<Field>

/** The most statements that a connection keeps prepared. Look-ups repeat a few. */
const MOST_PREPARED = 50

/** The options for each `ssl-mode` of the address. */
const SSL_MODES: Readonly<Record<string, Pick<PoolOptions, 'ssl'>>> = {
  DISABLED: {},
  REQUIRED: { ssl: { rejectUnauthorized: false } },
  VERIFY_IDENTITY: { ssl: { rejectUnauthorized: true, verifyIdentity: true } },
}

/** Reads how to connect. @throws SourceRefusal the address, or a file that the source names, cannot be read */
export const connectionTo = (file: SourceFile, env: Environment): PoolOptions =>
  optionsOf(readAddress(file, env), readCertificates(file), file)

export function openConnections(file: SourceFile, options: PoolOptions): Connections<Field> {
  let opened: Promise<Pool> | undefined
  const heldOf = oncePerObject((_: PoolConnection): Held => {
    const limit = new TimeLimit(file.statementTimeout + STATEMENT_GRACE, late)
    return { limit, isSetUp: false, isFresh: false }
  })
  return connectionsOf(file, {
    async begin() {
      opened ??= openPool(options)
      const connection = await connectionOf(await opened)
      return await begin(connection, heldOf(connection), file)
    },
    failureOf,
    async close() {
      // If the pool could not be opened, awaiting `opened` throws that error here once more.
      const pool = await opened
      await new Promise<void>((resolve) => (pool === undefined ? resolve() : pool.end(() => resolve())))
    },
  })
}

function optionsOf(address: URL, ca: string | null, { pool }: SourceFile): PoolOptions {
  if (!/^(?:mariadb|mysql):$/.test(address.protocol)) {
    throw new SourceRefusal('url: the address must begin with mariadb:// or mysql://', ['url'])
  }
  // Other parameters are refused: a misspelt one for encryption would be ignored, and the connection be in clear.
  if ([...address.searchParams.keys()].some((name) => name !== 'ssl-mode' && name !== 'socket')) {
    throw new SourceRefusal('url: after ? the address may have ssl-mode and socket, and nothing else', ['url'])
  }
  const mode = address.searchParams.get('ssl-mode') ?? 'DISABLED'
  if (!Object.hasOwn(SSL_MODES, mode)) {
    throw new SourceRefusal(`url: ssl-mode must be ${Object.keys(SSL_MODES).join(', ')}`, ['url'])
  }
  const socket = address.searchParams.get('socket')
  // The driver does not compare an IP address with the names in a certificate.
  if (
    (ca !== null || mode === 'VERIFY_IDENTITY') &&
    socket === null &&
    isIP(address.hostname.replace(/^\[|\]$/g, ''))
  ) {
    throw new SourceRefusal('url: to be verified, the address must have the name of the host in its certificate', [
      'url',
    ])
  }
  const text = (given: string): string => decodeURIComponent(given)
  return {
    ...(socket === null
      ? { host: text(address.hostname).replace(/^\[|\]$/g, ''), port: Number(address.port || 3306) }
      : { socketPath: socket }),
    user: text(address.username),
    password: text(address.password),
    database: text(address.pathname.slice(1)),
    ...(ca === null ? SSL_MODES[mode] : { ssl: { ca, rejectUnauthorized: true, verifyIdentity: true } }),
    connectionLimit: pool,
    connectTimeout: CONNECT_TIMEOUT,
    maxPreparedStatements: MOST_PREPARED,
    // SQL of the operator can only be one statement, and the server cannot request a file of this machine.
    multipleStatements: false,
    flags: ['-LOCAL_FILES'],
    // Values are texts already; these options are for anything else.
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    rowsAsArray: true,
    // Otherwise the driver records where each statement was asked for, which takes a tenth of a look-up.
    trace: false,
  }
}

/** Loads the driver here, so that processes without such a source do not load it. */
async function openPool(options: PoolOptions): Promise<Pool> {
  const { createPool } = await import('mysql2')
  const pool = createPool(options)
  // The pool itself removes a connection that is lost while nobody uses it.
  pool.on('connection', (connection) => connection.on('error', () => undefined))
  return pool
}

/** Gets a connection within `CONNECT_TIMEOUT`, so that nobody waits longer for a busy pool. */
function connectionOf(pool: Pool): Promise<PoolConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<PoolConnection>()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reject(new Error('no connection was free'))
  }, CONNECT_TIMEOUT)
  pool.getConnection((error, connection) => {
    clearTimeout(timer)
    if (error) reject(error)
    else if (isLate) connection.release()
    else resolve(connection)
  })
  return promise
}

/**
 * The settings of a session. Each server reads its own limit of time: MariaDB reads a comment with `M!`, MySQL a
 * comment with this version.
 */
const settings = ({ statementTimeout }: SourceFile): string =>
  [
    `set session character_set_client = utf8mb4, character_set_results = utf8mb4, collation_connection = utf8mb4_unicode_ci`,
    // The usual quoting of texts: ' or ", with a backslash as escape. Administrators write SQL so.
    `sql_mode = ''`,
    `time_zone = '+00:00'`,
    // The time limits below do not apply while a statement is prepared; this limit does.
    `lock_wait_timeout = ${Math.ceil(statementTimeout / 1_000)}`,
    `group_concat_max_len = 1048576`,
    `/*M! max_statement_time = ${statementTimeout / 1_000} */ /*!50708 max_execution_time = ${statementTimeout} */`,
  ].join(', ')

/** Values of the catalog and of plans may be numbers; they are made texts. */
const textOf = (value: unknown): string | null => (value === null || typeof value === 'string' ? value : String(value))

/** A connection of the pool. */
interface Held {
  readonly limit: TimeLimit
  isSetUp: boolean
  /** True in a transaction that only reads, and has read nothing yet. Its first statement takes the snapshot. */
  isFresh: boolean
}

const late = (): Error => Object.assign(new Error('no answer in time'), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' })

async function begin(connection: PoolConnection, held: Held, file: SourceFile): Promise<Transaction<Field>> {
  const query = (sql: string): Promise<void> =>
    held.limit.wait(
      new Promise((resolve, reject) => {
        connection.query(sql, (error) => (error ? reject(error) : resolve()))
      }),
    )
  const start = () => query('start transaction with consistent snapshot, read only')
  let { isFresh } = held
  held.isFresh = false
  try {
    if (!held.isSetUp) {
      await query(settings(file))
      await query('set session transaction isolation level repeatable read')
      held.isSetUp = true
    }
    if (!isFresh) await start()
  } catch (error) {
    connection.destroy()
    throw error
  }
  return {
    isLimited: false,
    async run({ text, values }, { isLast }) {
      // The transaction that `end` has chained is enough for one last statement. Otherwise a consistent snapshot
      // begins: only that knows its place in the log.
      if (isFresh && !isLast) await start().catch((error) => Promise.reject(new NotBegun(error)))
      isFresh = false
      // It is prepared, so it can only be one statement: SQL of the operator cannot end this transaction and begin
      // another.
      return await held.limit.wait(
        new Promise((resolve, reject) => {
          connection.execute(text, values as string[], (error, rows, fields) =>
            error ? reject(error) : resolve(answerOf(rows, fields)),
          )
        }),
      )
    },
    async end(isBroken) {
      if (isBroken) return connection.destroy()
      // The rollback is not awaited: the connection returns to the pool when it has ended. The next transaction only
      // reads, as this one does.
      query('rollback and chain').then(
        () => {
          held.isFresh = true
          connection.release()
        },
        () => connection.destroy(),
      )
    },
  }
}

/** A statement such as SET ROLE has no rows. */
const answerOf = (rows: unknown, fields: readonly FieldPacket[]): Answer<Field> =>
  Array.isArray(rows)
    ? { rows: rows.map((row: unknown[]) => row.map(textOf)), types: fields, names: fields.map(({ name }) => name) }
    : { rows: [], types: [], names: [] }
