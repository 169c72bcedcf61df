/** Work that only one session may do at a time. */
import type { Database } from '@rollcall/database/database'

const CLAIMS = { configuration: 'rollcall configuration', approval: 'rollcall approval' } as const

/**
 * Works while no other session does: applies a configuration, or approves a proposal. The claim ends with the session, also when
 * this process is killed.
 * @returns null: another session has the claim, and nothing was done
 */
export async function withClaim<Result>(
  { pool }: Pick<Database, 'pool'>,
  claim: keyof typeof CLAIMS,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | null> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ claimed: boolean }>(
      'select pg_try_advisory_lock(hashtext($1), 0) as claimed',
      [CLAIMS[claim]],
    )
    return rows[0]?.claimed === true ? { result: await work() } : null
  } finally {
    await client.query('select pg_advisory_unlock_all()').catch(() => undefined)
    client.release(true)
  }
}
