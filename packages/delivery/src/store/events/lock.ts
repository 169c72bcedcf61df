/** The lock by which a subscription matches all changes that commit after it. */
import type { ClientBase } from 'pg'

const FUNCTIONS = {
  change: 'pg_advisory_xact_lock_shared',
  subscribe: 'pg_advisory_xact_lock',
  merge: 'pg_advisory_xact_lock',
} as const

/**
 * Held until the end of a transaction. Any number of transactions change records at a time; they take it at their beginning,
 * before any other lock. One that makes, ends or renews subscriptions waits for them, and they for it; when it answers a
 * request it holds the row of its exchange already, which no change of records asks for. One that merges records waits in
 * the same way: no record is made meanwhile under an identifier that becomes one of another record.
 */
export async function lockEvents(
  client: ClientBase,
  registryId: number,
  purpose: keyof typeof FUNCTIONS,
): Promise<void> {
  await client.query(`select ${FUNCTIONS[purpose]}(hashtext('rollcall events'), $1)`, [registryId])
}
