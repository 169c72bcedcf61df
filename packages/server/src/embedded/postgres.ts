import { resolve } from 'node:path'
import type { ClientConfig } from 'pg'
import { type Cluster, ensureCluster, SUPERUSER } from './cluster.ts'
import { hasCode } from './errors.ts'
import { keepHold } from './hold.ts'
import { enter, leave, type Session } from './session.ts'

/** The name of the one database. */
const DATABASE = 'rollcall'

/** A PostgreSQL that comes along with Rollcall, in use by this process. */
export interface EmbeddedPostgres {
  /** How to reach the database: host (the directory of the socket), port, user, password, database. */
  readonly connection: ClientConfig
  /** Ends our use of it. The last process to do so stops PostgreSQL. End your own connections first. */
  close(): Promise<void>
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
  } catch (error) {
    await leave(session, cluster)
    throw error
  }
  return use(cluster, session)
}

function use(cluster: Cluster, session: Session): EmbeddedPostgres {
  const hold = keepHold(cluster, session)
  let closed: Promise<void> | null = null
  return {
    connection: {
      host: session.postmaster.socketDirectory,
      port: session.postmaster.port,
      user: SUPERUSER,
      password: cluster.password,
      database: DATABASE,
    },
    close() {
      closed ??= hold.release()
      return closed
    },
  }
}

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
