/**
 * Finds out whether a database belongs to a demo. A demo and a production never share a database, and at most one demo
 * runs on it: a second one would write its own address over that of the first.
 */

import type { Database } from '@rollcall/database/database'
import { REGISTRIES_OF_ANY_VERSION } from '@rollcall/records/registries/registry-names'
import pg from 'pg'

/** The entries of the directory, such as `registry civil`. Both lists are empty in a new database. */
export interface DirectoryContent {
  /** Made by `rollcall demo`. */
  readonly demo: readonly string[]
  readonly real: readonly string[]
}

/** Reads the directory of any database, even one that was never migrated, without changing it. */
export async function directoryContent(db: Database): Promise<DirectoryContent> {
  const { rows: tables } = await db.pool.query<{ there: boolean }>(
    `select to_regclass('registry') is not null and to_regclass('participant') is not null as there`,
  )
  if (tables[0]?.there !== true) return { demo: [], real: [] }
  const { rows: entries } = await db.pool.query<{ name: string; demo: boolean }>(
    `select 'registry ' || namespace as name, demo from ${REGISTRIES_OF_ANY_VERSION} as registry
      union all select 'participant ' || sender_id, demo from participant`,
  )
  const named = (demo: boolean): string[] =>
    entries
      .filter((entry) => entry.demo === demo)
      .map(({ name }) => name)
      .sort()
  return { demo: named(true), real: named(false) }
}

/** Milliseconds after which the session of a killed demo has ended. */
const LOCK_TIMEOUT = 2_000

/** The code of PostgreSQL for a lock that was not free in time. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Takes the demo's lock in a session of its own, for the life of this process.
 * @returns releases the lock; null: another demo has it
 */
export async function becomeOnlyDemo(db: Database): Promise<(() => Promise<void>) | null> {
  const client = new pg.Client(db.connection)
  // The next query reports a lost connection.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT}`)
    await client.query("select pg_advisory_lock(hashtextextended('rollcall demo', 0))")
    return () => client.end()
  } catch (error) {
    await client.end()
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return null
    throw error
  }
}
