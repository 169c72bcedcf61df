/** Forgetting exchanges and ciphertexts that are older than any message which freshness would let through. */
import type { Database } from './database.ts'

/** Rows in one statement: it takes some ten milliseconds and holds up nobody. */
const AT_ONCE = 5_000

/**
 * Deletes what was received more than `retention` seconds ago by the database's clock, a few thousand rows a
 * statement, and answers how many rows went. Any number of nodes may do so at once: they share the work.
 */
export async function forgetExchanges(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  return (await forget(db, 'exchange', retention)) + (await forget(db, 'sealed_message', retention))
}

async function forget(
  { pool }: Pick<Database, 'pool'>,
  table: 'exchange' | 'sealed_message',
  retention: number,
): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid = any(array(
        select ctid from ${table} where received_at < now() - make_interval(secs => $1)
        order by received_at limit ${AT_ONCE} for update skip locked))`,
      [retention],
    )
    total += rowCount ?? 0
    if (rowCount !== AT_ONCE) return total
  }
}
