import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, SUPERUSER } from './cluster.ts'
import { EmbeddedPostgresError, hasCode } from './errors.ts'
import { findPostmaster, type Postmaster } from './lock-file.ts'
import { type Start, startPostmaster, stopPostmaster } from './postmaster.ts'

/** The advisory lock, in the database `postgres`, that every process holds (shared) while it uses the cluster. */
const LOCK = 5_294_201_871_530

/** Milliseconds until PostgreSQL is ready: a recovery after a crash may take minutes. */
const PATIENCE = 300_000

/** Starts (one each 200 ms) that may fail for a passing reason, such as what a killed postmaster leaves behind. */
const TRIES = 100

/** Messages of a start that another try gets past: another start is ahead, or the last one's remains still hold on. */
const PASSING = /already exists|is empty|is still in use|Is another postmaster already running/

/** Our use of a running PostgreSQL: a connection that holds the shared lock. */
export interface Session {
  readonly client: pg.Client
  readonly postmaster: Postmaster
}

/**
 * Finds or starts the cluster's PostgreSQL and takes the shared lock in it. Throws EmbeddedPostgresError, or the reason
 * of `signal`.
 */
export async function enter(cluster: Cluster, signal?: AbortSignal): Promise<Session> {
  const begun = Date.now()
  let start: Start | null = null
  let tries = 0
  for (;;) {
    // Not once we started one: it gets its user, who then stops it.
    if (start === null) signal?.throwIfAborted()
    const postmaster = await findPostmaster(cluster)
    if (postmaster) {
      const client = await join(cluster, postmaster).catch(async (error) => {
        // Nobody can use what we started: it must not stay behind.
        if (start) await stopPostmaster(postmaster, cluster)
        throw error
      })
      if (client) return { client, postmaster }
    } else if (start === null) {
      start = await startPostmaster(cluster)
    }
    if (start && start.exitCode() !== undefined) {
      await requirePassing(start, cluster, ++tries)
      start = null
      await sleep(200)
    }
    if (Date.now() - begun > PATIENCE) {
      throw new EmbeddedPostgresError(`PostgreSQL does not get ready. Its log file is ${cluster.logFile}.`)
    }
    await sleep(20)
  }
}

/** Gives the lock back; the last one to do so stops PostgreSQL. False when the connection was lost before. */
export async function leave({ client, postmaster }: Session, cluster: Cluster): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_all()')
    const last = await take(client, 'pg_try_advisory_lock')
    // Whoever comes now fails to get the lock, waits for the end and starts PostgreSQL anew.
    if (last) await stopPostmaster(postmaster, cluster)
    return true
  } catch (error) {
    if (isPassing(error)) return false
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** A connection that has the shared lock; null where another moment is needed for that. */
async function join(cluster: Cluster, postmaster: Postmaster): Promise<pg.Client | null> {
  const client = await connect(cluster, postmaster)
  if (client === null) return null
  let joined = false
  try {
    joined = await takeShared(client)
    return joined ? client : null
  } finally {
    if (!joined) await client.end().catch(() => undefined)
  }
}

/** A connection to the database `postgres`, or null while PostgreSQL starts, stops or recovers. */
export async function connect(cluster: Cluster, postmaster: Postmaster): Promise<pg.Client | null> {
  const client = new pg.Client({
    host: postmaster.socketDirectory,
    port: postmaster.port,
    user: SUPERUSER,
    password: cluster.password,
    database: 'postgres',
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
    if (hasCode(error, '28P01')) {
      throw new EmbeddedPostgresError(
        `PostgreSQL does not accept the password in ${cluster.passwordFile}. Its log file is ${cluster.logFile}.`,
      )
    }
    throw error
  }
}

/** Whether a connection failed because PostgreSQL starts, stops or crashed, which another moment mends. */
function isPassing(error: unknown): boolean {
  if (hasCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300'))
    return true
  return error instanceof Error && /Connection terminated|not queryable|timeout expired/.test(error.message)
}

async function take(
  client: pg.Client,
  way: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${way}($1) as taken`, [LOCK])
  return rows[0]?.taken === true
}

/** False while the last user stops PostgreSQL: he has the exclusive lock, and then the connection breaks. */
async function takeShared(client: pg.Client): Promise<boolean> {
  return take(client, 'pg_try_advisory_lock_shared').catch((error) => {
    if (isPassing(error)) return false
    throw error
  })
}

async function requirePassing(start: Start, cluster: Cluster, tries: number): Promise<void> {
  const said = await start.said()
  // Exit code 0: somebody stopped it in good order; null: somebody killed it.
  const code = start.exitCode()
  if (code === 0 || ((code === null || PASSING.test(said)) && tries < TRIES)) return
  const fatal = said.split('\n').findLast((line) => /FATAL|PANIC/.test(line))
  const reason = fatal?.replace(/^.*(FATAL|PANIC):\s*/, '') ?? said.trim().slice(0, 500)
  throw new EmbeddedPostgresError(
    `PostgreSQL did not start (${reason || 'it gave no reason'}). Its log file is ${cluster.logFile}.`,
  )
}
