/**
 * Finds out whether a database belongs to a demo. A demo and a production system never share a database. At most one
 * demo runs on a database, because the file demo.json has the address of one demo alone.
 */

import type { Database } from '@rollcall/database/database'
import { REGISTRIES_OF_ANY_VERSION_SQL } from '@rollcall/records/registries/registry-names'
import pg from 'pg'

/** The registries and participants of a database, such as `registry civil`. Both lists are empty in a new database. */
export interface RegistriesAndParticipants {
  /** The registries and participants that `rollcall demo` made. */
  readonly demo: readonly string[]
  /** The registries and participants that `rollcall demo` did not make. */
  readonly real: readonly string[]
}

/** Lists the registries and participants of a database, even of one that was never migrated, without changing it. */
export async function listRegistriesAndParticipants(db: Database): Promise<RegistriesAndParticipants> {
  const { rows: tables } = await db.pool.query<{ there: boolean }>(
    `select to_regclass('registry') is not null and to_regclass('participant') is not null as there`,
  )
  if (tables[0]?.there !== true) return { demo: [], real: [] }
  const { rows: entries } = await db.pool.query<{ name: string; demo: boolean }>(
    `select 'registry ' || namespace as name, demo from ${REGISTRIES_OF_ANY_VERSION_SQL} as registry
      union all select 'participant ' || sender_id, demo from participant`,
  )
  const named = (demo: boolean): string[] =>
    entries
      .filter((entry) => entry.demo === demo)
      .map(({ name }) => name)
      .sort()
  return { demo: named(true), real: named(false) }
}

/** Milliseconds to wait for the lock. If a demo was killed, its database session, and so its lock, ends within this time. */
const LOCK_TIMEOUT_MS = 2_000

/** The code of PostgreSQL for a lock that was not free in time. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Takes the lock of the demo in a session of its own, until it is released or the session ends.
 * @returns a function that releases the lock; null when another demo has it
 */
export async function takeDemoLock(db: Database): Promise<(() => Promise<void>) | null> {
  const client = new pg.Client(db.connection)
  // A lost connection releases the lock unnoticed. Without this listener it would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await client.query("select pg_advisory_lock(hashtextextended('rollcall demo', 0))")
    return () => client.end()
  } catch (error) {
    await client.end()
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return null
    throw error
  }
}
