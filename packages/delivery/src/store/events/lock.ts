/** The advisory lock of a registry: each change of a record is matched with all subscriptions that were committed before it. */
import type { ClientBase } from 'pg'

const LOCK_FUNCTION_BY_PURPOSE = {
  change: 'pg_advisory_xact_lock_shared',
  subscribe: 'pg_advisory_xact_lock',
  'exclusive change': 'pg_advisory_xact_lock',
} as const

/**
 * Takes the lock of a registry until the transaction ends. Transactions with another purpose than `change` have it alone.
 * - `change`: changes of records. Transactions share the lock, and take it before they lock a record.
 * - `subscribe`: subscriptions are made or renewed, or end by a request, by the operator, or because their consent has ended.
 * - `exclusive change`: no other change may run beside, for example when records are merged, a person is protected, or the
 *   registry gets another source. So no record is made meanwhile with an identifier of a retired record.
 *
 * A transaction that answers an accepted request locks the row of the exchange before it takes this lock. No deadlock follows,
 * because changes of records never lock such a row.
 */
export async function lockRegistryFor(
  client: ClientBase,
  registryId: number,
  purpose: keyof typeof LOCK_FUNCTION_BY_PURPOSE,
): Promise<void> {
  await client.query(`select ${LOCK_FUNCTION_BY_PURPOSE[purpose]}(hashtext('rollcall events'), $1)`, [registryId])
}
