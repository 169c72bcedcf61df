/** Which master key this database is sealed with: its version and a value to try it on, never the key itself. */
import { sql, type Transaction } from 'kysely'
import type { Database } from '../db/database.ts'
import { isMissingReference } from '../db/database-errors.ts'
import { StoreRefusal } from '../db/refusal.ts'
import type { Tables } from '../db/tables.ts'
import { lockKeys } from './key-lock.ts'
import { SEALED, type SealedTable } from './sealed-tables.ts'

export interface MasterKeyRecord {
  /** 1 to 255 */
  readonly version: number
  readonly check_value: Buffer
}

/** Null: nothing has ever been sealed here. */
export async function readMasterKey(db: Database): Promise<MasterKeyRecord | null> {
  const found = await db.kysely.selectFrom('master_key').select(['version', 'check_value']).executeTakeFirst()
  return found ?? null
}

/** Adds the first one, unless another node was faster: read what is there afterwards. */
export async function addFirstMasterKey(db: Database, record: MasterKeyRecord): Promise<void> {
  await db.kysely
    .insertInto('master_key')
    .values({ ...record })
    .onConflict((conflict) => conflict.column('version').doNothing())
    .execute()
}

/**
 * Puts another master key in the place of `from`: every sealed value of every table is replaced by what `reseal`
 * makes of it. All of it or, when anything fails, nothing.
 * @returns how many values were resealed
 * @throws StoreRefusal when `from` is no longer the master key
 */
export async function replaceMasterKey(
  db: Database,
  from: number,
  to: MasterKeyRecord,
  reseal: (place: SealedTable, id: string, sealed: Buffer) => Buffer,
): Promise<number> {
  return db.kysely.transaction().execute(async (transaction) => {
    await lockKeys(transaction)
    // Against the lock that a new sealed value takes on the row: it waits, and finds its master key gone.
    const row = await transaction
      .selectFrom('master_key')
      .select('version')
      .where('version', '=', from)
      .forUpdate()
      .executeTakeFirst()
    if (!row)
      throw new StoreRefusal(
        'another command replaced the master key at the same time; run this command again',
      )
    await transaction
      .insertInto('master_key')
      .values({ ...to })
      .execute()
    let resealed = 0
    for (const place of Object.values(SEALED)) resealed += await resealTable(transaction, place, reseal)
    // Refused by the foreign keys while anything is sealed with it.
    await transaction.deleteFrom('master_key').where('version', '=', from).execute()
    return resealed
  })
}

async function resealTable(
  transaction: Transaction<Tables>,
  place: SealedTable,
  reseal: (place: SealedTable, id: string, sealed: Buffer) => Buffer,
): Promise<number> {
  const [table, id] = [sql.table(place.table), sql.ref(place.id)]
  const { rows } = await sql<{ id: string; sealed: Buffer }>`
    select ${id}::text as id, sealed from ${table} where sealed is not null order by 1`.execute(transaction)
  for (const row of rows) {
    const sealed = reseal(place, row.id, row.sealed)
    await sql`update ${table} set sealed = ${sealed} where ${id} = ${row.id}`.execute(transaction)
  }
  return rows.length
}

const TRIES = 3

/**
 * Repeats work that seals and writes, when the master key was replaced between the two: the database has then
 * refused the value.
 */
export async function withCurrentMasterKey<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const stale = Object.keys(SEALED).some((table) =>
        isMissingReference(error, `${table}_master_version_fkey`),
      )
      if (!stale || tries === TRIES) throw error
    }
  }
}
