/** One configuration is applied at a time. */
import type { Database } from '../db/database.ts'

/**
 * Works while no other session applies a configuration. The claim ends with the session, also when this process is killed.
 * @returns null: another session has the claim, and nothing was done
 */
export async function withConfigurationClaim<Result>(
  { pool }: Pick<Database, 'pool'>,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | null> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ claimed: boolean }>(
      "select pg_try_advisory_lock(hashtext('rollcall configuration'), 0) as claimed",
    )
    return rows[0]?.claimed === true ? { result: await work() } : null
  } finally {
    await client.query('select pg_advisory_unlock_all()').catch(() => undefined)
    client.release(true)
  }
}
