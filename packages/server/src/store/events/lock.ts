/** The lock by which a subscription counts from its commit: no change that commits later misses it. */
import type { ClientBase } from 'pg'

const FUNCTIONS = {
  change: 'pg_advisory_xact_lock_shared',
  subscribe: 'pg_advisory_xact_lock',
} as const

/**
 * Taken at the beginning of a transaction, before any other lock, and held until its end. Any number of transactions change
 * records at a time. One that makes, ends or renews subscriptions waits for them, and they for it.
 */
export async function lockEvents(
  client: ClientBase,
  registryId: number,
  purpose: keyof typeof FUNCTIONS,
): Promise<void> {
  await client.query(`select ${FUNCTIONS[purpose]}(hashtext('rollcall events'), $1)`, [registryId])
}
