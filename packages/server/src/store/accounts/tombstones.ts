/** Tombstones of the accounts. */
import type { Insertable, Kysely } from 'kysely'
import type { AccountTombstoneRow } from '../db/account-tables.ts'
import type { Tables } from '../db/tables.ts'

export type NewTombstone = Insertable<AccountTombstoneRow>

/** @param connection a transaction, in which what it is about is deleted */
export async function insertTombstone(connection: Kysely<Tables>, tombstone: NewTombstone): Promise<void> {
  await connection.insertInto('account_tombstone').values(tombstone).execute()
}
