/** The advisory lock of a registry: each change of a record is matched with all subscriptions that were committed before it. */
import type { ClientBase } from 'pg'

const LOCK_FUNCTION_BY_PURPOSE = {
  change: 'pg_advisory_xact_lock_shared',
  subscribe: 'pg_advisory_xact_lock',
  merge: 'pg_advisory_xact_lock',
} as const

/**
 * Takes the lock of a registry until the transaction ends. With `change`, for changes of records with events, transactions share
 * the lock; they take it before they lock a record. With `subscribe`, for making or renewing subscriptions, and for ending them
 * by request, by the operator or with a consent, a transaction has the lock alone: it waits for transactions with `change`, and
 * those wait for it. A transaction that answers an accepted request locks the row of the exchange before. No deadlock follows,
 * because changes of records never lock such a row. With `merge` a transaction waits in the same way, for example so that no
 * record is made meanwhile with an identifier of a retired record.
 */
export async function lockRegistryFor(
  client: ClientBase,
  registryId: number,
  purpose: keyof typeof LOCK_FUNCTION_BY_PURPOSE,
): Promise<void> {
  await client.query(`select ${LOCK_FUNCTION_BY_PURPOSE[purpose]}(hashtext('rollcall events'), $1)`, [registryId])
}
