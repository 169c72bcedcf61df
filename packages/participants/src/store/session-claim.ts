/** Locks for work that only one session or one transaction of the database may do at a time. */
import type { Database } from '@rollcall/database/database'
import { isTransactionConflict } from '@rollcall/database/database-errors'
import { StoreUnavailable } from '@rollcall/database/refusal'
import type { ClientBase } from 'pg'

/**
 * Runs the work while nobody else approves any proposal, on this node or another. A lock in a database session of its own
 * ensures that; the lock ends with the session, also when this process is killed.
 * @returns null when somebody else has the lock; then nothing was done
 */
export async function withProposalApprovalLock<Result>(
  { pool }: Pick<Database, 'pool'>,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | null> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ claimed: boolean }>(
      `select pg_try_advisory_lock(hashtext('rollcall approval'), 0) as claimed`,
    )
    return rows[0]?.claimed === true ? { result: await work() } : null
  } finally {
    await client.query('select pg_advisory_unlock_all()').catch(() => undefined)
    client.release(true)
  }
}

/** The name of the lock for changes of settings that acts depend on: grants, policies, addresses, keys, statuses. */
const SETTINGS_LOCK_NAME = 'rollcall settings'
/** Milliseconds for which an act waits until another act has changed settings. */
const SETTINGS_LOCK_WAIT_MS = 10_000

/**
 * Locks the settings until the transaction ends: no other act that takes this lock changes them meanwhile.
 * @throws StoreUnavailable the lock was not free within `SETTINGS_LOCK_WAIT_MS`
 */
export const lockSettings = (client: ClientBase): Promise<void> => takeSettingsLock(client, 'pg_advisory_xact_lock', 'local')

/**
 * Locks the settings while work runs that has several transactions.
 * @param work gets a check, to be called before each change: the check fails when the lock was lost with its connection
 */
export async function withSettingsLock<Result>(
  { pool }: Pick<Database, 'pool'>,
  work: (checkHeld: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  try {
    await takeSettingsLock(client, 'pg_advisory_lock', 'session')
    return await work(async () => {
      await client.query('select')
    })
  } finally {
    // The end of the connection releases the lock.
    client.release(true)
  }
}

async function takeSettingsLock(
  client: ClientBase,
  lock: 'pg_advisory_lock' | 'pg_advisory_xact_lock',
  scope: 'local' | 'session',
): Promise<void> {
  try {
    await client.query(`set ${scope} lock_timeout = ${SETTINGS_LOCK_WAIT_MS}`)
    await client.query(`select ${lock}(hashtext($1), 0)`, [SETTINGS_LOCK_NAME])
    await client.query(`set ${scope} lock_timeout = 0`)
  } catch (error) {
    if (!isTransactionConflict(error)) throw error
    throw new StoreUnavailable('another act is changing settings; try again when it has ended')
  }
}
