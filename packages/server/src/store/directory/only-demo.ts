/** At most one demo runs on a database: a second one would write its own address over that of the first. */
import pg from 'pg'
import type { Database } from '../db/database.ts'

/** Milliseconds for the session of a demo that was killed to end. */
const PATIENCE = 2_000

/** PostgreSQL's code for a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Takes the demo's lock in a session of its own, which holds it as long as this process lives.
 * @returns what gives it back; null: another demo has it
 */
export async function becomeOnlyDemo(db: Database): Promise<(() => Promise<void>) | null> {
  const client = new pg.Client(db.connection)
  // A lost connection is reported by whatever uses the database next.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(`set lock_timeout = ${PATIENCE}`)
    await client.query("select pg_advisory_lock(hashtextextended('rollcall demo', 0))")
    return () => client.end()
  } catch (error) {
    await client.end()
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return null
    throw error
  }
}
