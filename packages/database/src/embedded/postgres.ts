/**
 * The embedded PostgreSQL. Every process that uses it holds a shared advisory lock in it. The first one starts it, the
 * last one stops it, and a process that finds it stopped meanwhile starts it again.
 */
import { createHmac } from 'node:crypto'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, ensureCluster, SUPERUSER } from './cluster.ts'
import { EmbeddedPostgresError, hasCode } from './files.ts'
import { findPostmaster, type Postmaster, type Start, startPostmaster, stopPostmaster } from './postmaster.ts'

/** The name of the one database. */
const DATABASE = 'rollcall'

/** The role of servers and commands. The superuser is the owner (`store/db/roles.ts`). */
const APPLICATION = 'rollcall_application'

/** The advisory lock, in the database `postgres`. */
const LOCK = 5_294_201_871_530

/** Milliseconds until PostgreSQL is ready: a recovery after a crash may take minutes. */
const READY_TIMEOUT = 300_000

/** Milliseconds that a close waits for PostgreSQL to recover from a crash. */
const RECOVERY_TIMEOUT = 10_000

/** Starts, 200 ms apart, that may fail for a reason that passes, such as files that a killed postmaster left. */
const TRIES = 100

/** Milliseconds between attempts to bring back a PostgreSQL that went away. */
const RENEWAL_PAUSE = 2_000

/** Messages of a start after which another may succeed: another start is ahead, or the last one has not ended yet. */
const PASSING = /already exists|is empty|is still in use|Is another postmaster already running/

/** A PostgreSQL in use by this process. */
export interface EmbeddedPostgres {
  /** The connection of the database's owner: host (the directory of the socket), port, user, password, database. */
  readonly connection: pg.ClientConfig
  /** The connection of the application role. */
  readonly application: pg.ClientConfig
  /** Ends our use of PostgreSQL; the last process stops it. End your own connections first. */
  close(): Promise<void>
}

/** A connection that holds the shared lock. */
interface Session {
  readonly client: pg.Client
  readonly postmaster: Postmaster
}

/**
 * Opens the PostgreSQL of a data directory: made at first use, started unless another process has, adopted when a
 * killed process left it running. Throws EmbeddedPostgresError.
 */
export async function openEmbeddedPostgres(dataDirectory: string): Promise<EmbeddedPostgres> {
  const cluster = await ensureCluster(resolve(dataDirectory))
  const session = await enter(cluster)
  try {
    await ensureDatabase(session)
    await ensureApplicationRole(session, cluster)
  } catch (error) {
    await leave(session, cluster)
    throw error
  }
  const release = keepSession(cluster, session)
  let closed: Promise<void> | undefined
  const connection = connectionTo(cluster, session.postmaster, DATABASE)
  return {
    connection,
    application: { ...connection, user: APPLICATION, password: applicationPassword(cluster) },
    close() {
      closed ??= release()
      return closed
    },
  }
}

const connectionTo = (cluster: Cluster, postmaster: Postmaster, database: string): pg.ClientConfig => ({
  host: postmaster.socketDirectory,
  port: postmaster.port,
  user: SUPERUSER,
  password: cluster.password,
  database,
})

async function ensureDatabase({ client }: Session): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
  if (rowCount) return
  try {
    await client.query(`create database ${DATABASE} template template0 encoding 'UTF8' locale 'C'`)
  } catch (error) {
    // Another process made it in the same moment (duplicate_database, unique_violation).
    if (!hasCode(error, '42P04', '23505')) throw error
  }
}

/** No second secret is stored: who has the owner's password may do everything anyway, and not the other way round. */
const applicationPassword = ({ password }: Cluster): string =>
  createHmac('sha256', password).update(APPLICATION).digest('base64url')

/** Databases of earlier versions have none. */
async function ensureApplicationRole({ client }: Session, cluster: Cluster): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [APPLICATION])
  if (rowCount) return
  const password = client.escapeLiteral(applicationPassword(cluster))
  try {
    await client.query(`create role ${APPLICATION} login password ${password}`)
  } catch (error) {
    // Another process made it in the same moment (duplicate_object, unique_violation).
    if (!hasCode(error, '42710', '23505')) throw error
  }
}

/**
 * Keeps the shared lock. When its connection breaks, because PostgreSQL crashed, was killed or restarted, it takes the
 * lock again, and starts PostgreSQL unless another process does. The socket stays in the same place.
 * @returns ends the session; the last user stops PostgreSQL
 */
function keepSession(cluster: Cluster, first: Session): () => Promise<void> {
  const releasing = new AbortController()
  let current: Session | null = null
  let renewal: Promise<void> = Promise.resolve()

  const watch = (session: Session): void => {
    current = session
    session.client.once('end', () => {
      current = null
      if (!releasing.signal.aborted) renewal = renew()
    })
  }
  const renew = async (): Promise<void> => {
    while (current === null && !releasing.signal.aborted) {
      try {
        watch(await enter(cluster, releasing.signal))
      } catch {
        // Statements report their own errors meanwhile; the next attempt may succeed.
        await sleep(RENEWAL_PAUSE, undefined, { signal: releasing.signal }).catch(() => undefined)
      }
    }
  }
  watch(first)
  return async () => {
    releasing.abort()
    await renewal
    if (current !== null && (await leave(current, cluster))) return
    const again = await reconnect(cluster)
    if (again !== null) await leave(again, cluster)
  }
}

/**
 * A connection for a process that lost its own, to find out whether it was the last user. Null when PostgreSQL does not
 * run, or does not recover in time: then the next start adopts it.
 */
async function reconnect(cluster: Cluster): Promise<Session | null> {
  for (const end = Date.now() + RECOVERY_TIMEOUT; Date.now() < end; await sleep(50)) {
    const postmaster = await findPostmaster(cluster)
    if (postmaster === null) return null
    const client = await connect(cluster, postmaster)
    if (client !== null) return { client, postmaster }
  }
  return null
}

/**
 * Finds or starts the cluster's PostgreSQL and takes the shared lock in it. Throws EmbeddedPostgresError, or the reason
 * of `signal`.
 */
async function enter(cluster: Cluster, signal?: AbortSignal): Promise<Session> {
  let start: Start | null = null
  let tries = 0
  for (const end = Date.now() + READY_TIMEOUT; Date.now() < end; await sleep(20)) {
    // A PostgreSQL that we started is not abandoned: it gets its user, who stops it.
    if (start === null) signal?.throwIfAborted()
    const postmaster = await findPostmaster(cluster)
    if (postmaster !== null) {
      const client = await join(cluster, postmaster).catch(async (error) => {
        // Nobody can use the PostgreSQL that we started: it must not stay.
        if (start !== null) await stopPostmaster(postmaster, cluster)
        throw error
      })
      if (client !== null) return { client, postmaster }
    } else if (start === null) {
      start = await startPostmaster(cluster)
    }
    if (start !== null && start.exitCode() !== undefined) {
      tries += 1
      await requirePassing(start, cluster, tries)
      start = null
      await sleep(200)
    }
  }
  throw new EmbeddedPostgresError(`PostgreSQL does not get ready. Its log file is ${cluster.logFile}.`)
}

/** Releases the lock; the last process stops PostgreSQL. False when the connection was lost before. */
async function leave({ client, postmaster }: Session, cluster: Cluster): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_all()')
    const last = await take(client, 'pg_try_advisory_lock')
    // A process that comes now fails to get the lock, waits for the end and starts PostgreSQL again.
    if (last) await stopPostmaster(postmaster, cluster)
    return true
  } catch (error) {
    if (isPassing(error)) return false
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** A connection with the shared lock; null when PostgreSQL is not ready, or its last user is stopping it. */
async function join(cluster: Cluster, postmaster: Postmaster): Promise<pg.Client | null> {
  const client = await connect(cluster, postmaster)
  if (client === null) return null
  try {
    if (await take(client, 'pg_try_advisory_lock_shared')) return client
  } catch (error) {
    if (!isPassing(error)) {
      await client.end().catch(() => undefined)
      throw error
    }
  }
  await client.end().catch(() => undefined)
  return null
}

/** A connection to the database `postgres`, or null while PostgreSQL starts, stops or recovers. */
async function connect(cluster: Cluster, postmaster: Postmaster): Promise<pg.Client | null> {
  const client = new pg.Client({
    ...connectionTo(cluster, postmaster, 'postgres'),
    application_name: 'rollcall lock',
    connectionTimeoutMillis: 10_000,
  })
  // A lost connection shows at the next query; without a listener it would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    if (isPassing(error)) return null
    if (!hasCode(error, '28P01')) throw error
    throw new EmbeddedPostgresError(
      `PostgreSQL does not accept the password in ${cluster.passwordFile}. Its log file is ${cluster.logFile}.`,
    )
  }
}

/** True when a connection failed because PostgreSQL starts, stops or crashed. */
function isPassing(error: unknown): boolean {
  if (hasCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300')) return true
  return error instanceof Error && /Connection terminated|not queryable|timeout expired/.test(error.message)
}

async function take(client: pg.Client, lock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared'): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select pg_catalog.${lock}($1) as taken`, [LOCK])
  return rows[0]?.taken === true
}

/** @throws EmbeddedPostgresError the start failed for a reason that does not pass */
async function requirePassing(start: Start, cluster: Cluster, tries: number): Promise<void> {
  const said = await start.said()
  // Exit code 0: a regular stop; null: a signal killed it.
  const code = start.exitCode()
  if (code === 0 || ((code === null || PASSING.test(said)) && tries < TRIES)) return
  const fatal = said.split('\n').findLast((line) => /FATAL|PANIC/.test(line))
  const reason = fatal?.replace(/^.*(FATAL|PANIC):\s*/, '') ?? said.trim().slice(0, 500)
  throw new EmbeddedPostgresError(
    `PostgreSQL did not start (${reason || 'it gave no reason'}). Its log file is ${cluster.logFile}.`,
  )
}
