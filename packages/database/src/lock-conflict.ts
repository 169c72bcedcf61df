/** Changes of tables beside running nodes: each attempt waits only shortly for a lock, and is repeated after a conflict. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isTransactionConflict } from './database-errors.ts'

/**
 * The `lock_timeout` of a statement that changes a table. The time is short, because statements of running nodes wait behind it.
 * After a wait of 1 s, PostgreSQL would look for a deadlock and end one side of it, perhaps a node's statement.
 */
export const TABLE_LOCK_TIMEOUT = '200ms'
/** Milliseconds until work is repeated after a conflict, such as a lock that was not free. */
const CONFLICT_PAUSE_MS = 1_000

/** Does work that changes tables. After each conflict all of it is repeated. @param work rolls everything back when it fails */
export async function repeatAfterConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isTransactionConflict(error)) throw error
      await sleep(CONFLICT_PAUSE_MS)
    }
  }
}
