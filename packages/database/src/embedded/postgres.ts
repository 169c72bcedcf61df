/**
 * The embedded PostgreSQL. Every process that uses it holds a shared advisory lock. The first process starts
 * PostgreSQL, the last one stops it. A process that finds it stopped starts it again.
 */
import { createHmac } from 'node:crypto'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, ensureCluster, SUPERUSER } from './cluster.ts'
import { EmbeddedPostgresError, hasErrorCode } from './files.ts'
import { findPostmaster, type Postmaster, type PostmasterStart, startPostmaster, stopPostmaster } from './postmaster.ts'

/** The name of the cluster's database in which Rollcall stores its data. */
const DATABASE_NAME = 'rollcall'

/** The application role, which servers and most commands use. The superuser is the owner role (`roles.ts`). */
const APPLICATION_ROLE = 'rollcall_application'

/** The id of the advisory lock that every process holds while it uses the cluster, in the database `postgres`. */
const CLUSTER_LOCK_ID = 5_294_201_871_530

/** Milliseconds in which a started PostgreSQL must be ready: a recovery after a crash may take minutes. */
const READY_TIMEOUT_MS = 300_000

/** Milliseconds that `close` waits for PostgreSQL to recover from a crash. */
const CRASH_RECOVERY_TIMEOUT_MS = 10_000

/** The number of starts, 200 ms apart, that may fail for a temporary reason, such as files of a killed process. */
const MOST_START_TRIES = 100

/** Milliseconds until the next attempt to connect and to lock the cluster again, after the connection with the lock was lost. */
const LOCK_RENEWAL_PAUSE_MS = 2_000

/** Messages of a failed start that may succeed later: another start is running, or the last process has not ended. */
const TEMPORARY_FAILURE_PATTERN = /already exists|is empty|is still in use|Is another postmaster already running/

/** An embedded PostgreSQL that this process uses. */
export interface EmbeddedPostgres {
  /** How to connect as the owner of the database: host (the socket's directory), port, user, password, database. */
  readonly connection: pg.ClientConfig
  /** The settings for connecting as the application role. */
  readonly application: pg.ClientConfig
  /** Stops using PostgreSQL; the last process stops it. The caller ends its connections before. */
  close(): Promise<void>
}

/** A connection that holds the shared lock on the cluster, and the postmaster to which it goes. */
interface SessionWithClusterLock {
  readonly client: pg.Client
  readonly postmaster: Postmaster
}

/**
 * Opens the PostgreSQL of a data directory: makes its cluster if there is none, and starts PostgreSQL if it does not run. It may
 * run because another process uses it, or because a process that used it was killed.
 * @throws EmbeddedPostgresError
 */
export async function openEmbeddedPostgres(dataDirectory: string): Promise<EmbeddedPostgres> {
  const cluster = await ensureCluster(resolve(dataDirectory))
  const session = await openClusterSession(cluster)
  try {
    await ensureDatabase(session)
    await ensureApplicationRole(session, cluster)
  } catch (error) {
    await closeClusterSession(session, cluster)
    throw error
  }
  const release = keepLockSession(cluster, session)
  let closed: Promise<void> | undefined
  const connection = connectionConfig(cluster, session.postmaster, DATABASE_NAME)
  return {
    connection,
    application: { ...connection, user: APPLICATION_ROLE, password: applicationPassword(cluster) },
    close() {
      closed ??= release()
      return closed
    },
  }
}

const connectionConfig = (cluster: Cluster, postmaster: Postmaster, database: string): pg.ClientConfig => ({
  host: postmaster.socketDirectory,
  port: postmaster.port,
  user: SUPERUSER,
  password: cluster.password,
  database,
})

async function ensureDatabase({ client }: SessionWithClusterLock): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE_NAME])
  if (rowCount) return
  try {
    await client.query(`create database ${DATABASE_NAME} template template0 encoding 'UTF8' locale 'C'`)
  } catch (error) {
    // Another process made the database at the same moment (duplicate_database, unique_violation).
    if (!hasErrorCode(error, '42P04', '23505')) throw error
  }
}

/**
 * The application's password is derived from the owner's password, so that only one secret is stored. The owner's password
 * cannot be derived from the application's.
 */
const applicationPassword = ({ password }: Cluster): string =>
  createHmac('sha256', password).update(APPLICATION_ROLE).digest('base64url')

/** Makes the application role if it is missing, as in databases of earlier versions. */
async function ensureApplicationRole({ client }: SessionWithClusterLock, cluster: Cluster): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [APPLICATION_ROLE])
  if (rowCount) return
  const password = client.escapeLiteral(applicationPassword(cluster))
  try {
    await client.query(`create role ${APPLICATION_ROLE} login password ${password}`)
  } catch (error) {
    // Another process made the role at the same moment (duplicate_object, unique_violation).
    if (!hasErrorCode(error, '42710', '23505')) throw error
  }
}

/**
 * Keeps the shared lock. When its connection ends, because PostgreSQL crashed or was restarted, takes the lock again,
 * and starts PostgreSQL unless another process does. The address of the socket stays the same.
 * @returns a function that ends the session; it stops PostgreSQL for the last user
 */
function keepLockSession(cluster: Cluster, first: SessionWithClusterLock): () => Promise<void> {
  const releasing = new AbortController()
  let current: SessionWithClusterLock | null = null
  let renewal: Promise<void> = Promise.resolve()

  const watch = (session: SessionWithClusterLock): void => {
    current = session
    session.client.once('end', () => {
      current = null
      if (!releasing.signal.aborted) renewal = renew()
    })
  }
  const renew = async (): Promise<void> => {
    while (current === null && !releasing.signal.aborted) {
      try {
        watch(await openClusterSession(cluster, releasing.signal))
      } catch {
        // This error is ignored: statements on other connections report the loss. The next attempt may succeed.
        await sleep(LOCK_RENEWAL_PAUSE_MS, undefined, { signal: releasing.signal }).catch(() => undefined)
      }
    }
  }
  watch(first)
  return async () => {
    releasing.abort()
    await renewal
    if (current !== null && (await closeClusterSession(current, cluster))) return
    const again = await tryReconnect(cluster)
    if (again !== null) await closeClusterSession(again, cluster)
  }
}

/**
 * Connects again after a lost connection, to find out whether this process is the last one that uses PostgreSQL. Null when
 * PostgreSQL does not run, or does not recover in time: the next process that starts then takes PostgreSQL over.
 */
async function tryReconnect(cluster: Cluster): Promise<SessionWithClusterLock | null> {
  for (const end = Date.now() + CRASH_RECOVERY_TIMEOUT_MS; Date.now() < end; await sleep(50)) {
    const postmaster = await findPostmaster(cluster)
    if (postmaster === null) return null
    const client = await tryConnect(cluster, postmaster)
    if (client !== null) return { client, postmaster }
  }
  return null
}

/** Finds or starts PostgreSQL, and takes the shared lock. @throws EmbeddedPostgresError, or the reason of `signal` */
async function openClusterSession(cluster: Cluster, signal?: AbortSignal): Promise<SessionWithClusterLock> {
  let start: PostmasterStart | null = null
  let tries = 0
  for (const end = Date.now() + READY_TIMEOUT_MS; Date.now() < end; await sleep(20)) {
    // If we started PostgreSQL, we go on after an abort too, until we have the lock. Without a lock holder nobody would stop
    // PostgreSQL.
    if (start === null) signal?.throwIfAborted()
    const postmaster = await findPostmaster(cluster)
    if (postmaster !== null) {
      const client = await tryConnectAndLock(cluster, postmaster).catch(async (error) => {
        // We started PostgreSQL, and nobody can use it: stop it.
        if (start !== null) await stopPostmaster(postmaster, cluster)
        throw error
      })
      if (client !== null) return { client, postmaster }
    } else if (start === null) {
      start = await startPostmaster(cluster)
    }
    if (start !== null && start.exitCode() !== undefined) {
      tries += 1
      await requireRetryableStart(start, cluster, tries)
      start = null
      await sleep(200)
    }
  }
  throw new EmbeddedPostgresError(`PostgreSQL does not get ready. Its log file is ${cluster.logFile}.`)
}

/** Releases the lock, and stops PostgreSQL when no other process has it. False when the connection was lost. */
async function closeClusterSession({ client, postmaster }: SessionWithClusterLock, cluster: Cluster): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_all()')
    const last = await tryTakeLock(client, 'pg_try_advisory_lock')
    // A process that starts now cannot get the lock: it waits until PostgreSQL has stopped, and starts it again.
    if (last) await stopPostmaster(postmaster, cluster)
    return true
  } catch (error) {
    if (isTemporaryFailure(error)) return false
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Connects and takes the shared lock. Null when PostgreSQL is not ready, or its last user is stopping it. */
async function tryConnectAndLock(cluster: Cluster, postmaster: Postmaster): Promise<pg.Client | null> {
  const client = await tryConnect(cluster, postmaster)
  if (client === null) return null
  try {
    if (await tryTakeLock(client, 'pg_try_advisory_lock_shared')) return client
  } catch (error) {
    if (!isTemporaryFailure(error)) {
      await client.end().catch(() => undefined)
      throw error
    }
  }
  await client.end().catch(() => undefined)
  return null
}

/** A connection to the database `postgres`, or null after an error that may pass (`isTemporaryFailure`). */
async function tryConnect(cluster: Cluster, postmaster: Postmaster): Promise<pg.Client | null> {
  const client = new pg.Client({
    ...connectionConfig(cluster, postmaster, 'postgres'),
    application_name: 'rollcall lock',
    connectionTimeoutMillis: 10_000,
  })
  // The next query reports a lost connection. Without a listener, the event would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    if (isTemporaryFailure(error)) return null
    if (!hasErrorCode(error, '28P01')) throw error
    throw new EmbeddedPostgresError(
      `PostgreSQL does not accept the password in ${cluster.passwordFile}. Its log file is ${cluster.logFile}.`,
    )
  }
}

/** True when a connection failed because PostgreSQL starts, stops, has crashed, is full, or does not answer in time. */
function isTemporaryFailure(error: unknown): boolean {
  if (hasErrorCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300')) return true
  return error instanceof Error && /Connection terminated|not queryable|timeout expired/.test(error.message)
}

async function tryTakeLock(client: pg.Client, lock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared'): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select pg_catalog.${lock}($1) as taken`, [CLUSTER_LOCK_ID])
  return rows[0]?.taken === true
}

/** Checks that a failed start may be tried again. @throws EmbeddedPostgresError its reason is not temporary */
async function requireRetryableStart(start: PostmasterStart, cluster: Cluster, tries: number): Promise<void> {
  const said = await start.said()
  // 0: PostgreSQL was told to stop, and stopped; null: a signal killed it.
  const code = start.exitCode()
  if (code === 0 || ((code === null || TEMPORARY_FAILURE_PATTERN.test(said)) && tries < MOST_START_TRIES)) return
  const fatal = said.split('\n').findLast((line) => /FATAL|PANIC/.test(line))
  const reason = fatal?.replace(/^.*(FATAL|PANIC):\s*/, '') ?? said.trim().slice(0, 500)
  throw new EmbeddedPostgresError(
    `PostgreSQL did not start (${reason || 'it gave no reason'}). Its log file is ${cluster.logFile}.`,
  )
}
