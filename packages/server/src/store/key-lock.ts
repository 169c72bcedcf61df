/** What puts changes of keys in order, on all nodes. */
import { sql, type Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** Waits until no other transaction changes own keys or the master key; held until this one ends. */
export async function lockKeys(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('rollcall keys', 0))`.execute(transaction)
}
