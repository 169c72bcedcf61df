/** What puts changes of keys in order, on all nodes. */
import { sql, type Transaction } from 'kysely'
import type { Database } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'

/** Waits until no other transaction changes own keys or what they are sealed with; held until this one ends. */
export async function lockKeys(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('rollcall keys', 0))`.execute(transaction)
}

/** Runs the work while nobody else replaces the master key, in the database or in its file. */
export async function whileMasterKeyStays<Result>(
  db: Database,
  work: () => Promise<Result>,
): Promise<Result> {
  return db.kysely.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('rollcall master key', 0))`.execute(transaction)
    return work()
  })
}
