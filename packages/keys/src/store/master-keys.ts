/**
 * The master key of this database: its version and a value for checking it, never the key itself; and the tables with
 * values encrypted under it.
 */

import type { Database } from '@rollcall/database/database'
import { isMissingReference } from '@rollcall/database/database-errors'
import { StoreRefusal } from '@rollcall/database/refusal'
import { sql, type Transaction } from 'kysely'
import type { ClientBase } from 'pg'

export interface EncryptedTable {
  readonly table: string
  /** The column of the primary key. A value is bound to its table and this key. */
  readonly id: string
  /** The purpose of the values; each purpose has its own key, derived from the master key. */
  readonly purpose: string
}

/** The tables of this package with encrypted values. Packages above declare theirs beside their tables. */
export const ENCRYPTED = {
  own_key: { table: 'own_key', id: 'kid', purpose: 'own key' },
  body_key: { table: 'body_key', id: 'day', purpose: 'body key' },
} as const satisfies Record<string, EncryptedTable>

export interface MasterKeyRecord {
  /** 1 to 255 */
  readonly version: number
  readonly check_value: Buffer
}

/** Reads the record of the master key; null: nothing has ever been encrypted here. */
export async function readMasterKey({
  pool,
}: {
  readonly pool: Pick<ClientBase, 'query'>
}): Promise<MasterKeyRecord | null> {
  const { rows } = await pool.query<MasterKeyRecord>('select version, check_value from master_key limit 1')
  return rows[0] ?? null
}

/** Adds the first master key, unless another node was faster. The caller reads the result afterwards. */
export async function addFirstMasterKey(db: Database, record: MasterKeyRecord): Promise<void> {
  await db.pool.query(
    'insert into master_key (version, check_value) values ($1, $2) on conflict (version) do nothing',
    [record.version, record.check_value],
  )
}

/**
 * Replaces the master key `from`: `reencrypt` encrypts every value of every table anew. If anything fails, nothing is
 * changed.
 * @param others the tables of packages above; the database refuses to leave out a table with values
 * @returns the number of values that were encrypted anew
 * @throws StoreRefusal `from` is no longer the master key
 */
export async function replaceMasterKey(
  db: Database,
  from: number,
  to: MasterKeyRecord,
  reencrypt: (of: EncryptedTable, id: string, sealed: Buffer) => Buffer,
  others: readonly EncryptedTable[] = [],
): Promise<number> {
  return db.kysely.transaction().execute(async (transaction) => {
    await lockKeys(transaction)
    // A write of a value at the same time waits for this lock, and then finds that its master key is gone.
    const { rows } = await sql`select from master_key where version = ${from} for update`.execute(transaction)
    if (rows.length === 0)
      throw new StoreRefusal('another command replaced the master key at the same time; run this command again')
    await sql`insert into master_key (version, check_value) values (${to.version}, ${to.check_value})`.execute(
      transaction,
    )
    let reencrypted = 0
    for (const encrypted of [...Object.values(ENCRYPTED), ...others])
      reencrypted += await reencryptTable(transaction, encrypted, reencrypt)
    // Foreign keys refuse the deletion while a value is encrypted under it.
    await sql`delete from master_key where version = ${from}`.execute(transaction)
    return reencrypted
  })
}

async function reencryptTable(
  transaction: Transaction<unknown>,
  of: EncryptedTable,
  reencrypt: (of: EncryptedTable, id: string, sealed: Buffer) => Buffer,
): Promise<number> {
  const [table, id] = [sql.table(of.table), sql.ref(of.id)]
  const { rows } = await sql<{ id: string; sealed: Buffer }>`
    select ${id}::text as id, sealed from ${table} where sealed is not null order by 1`.execute(transaction)
  for (const row of rows) {
    const sealed = reencrypt(of, row.id, row.sealed)
    await sql`update ${table} set sealed = ${sealed} where ${id} = ${row.id}`.execute(transaction)
  }
  return rows.length
}

const TRIES = 3

/** Repeats work that encrypts and writes, when the database refused the value because the master key was replaced meanwhile. */
export async function withCurrentMasterKey<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isMissingReference(error, /_master_version_fkey$/) || tries === TRIES) throw error
    }
  }
}

/** Waits until no other transaction changes own keys or the master key. Held until the transaction ends. */
export async function lockKeys(transaction: Transaction<unknown>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('rollcall keys', 0))`.execute(transaction)
}

/** Runs the work while nobody else replaces the master key, in the database or in its file. */
export async function whileMasterKeyStays<Result>(db: Database, work: () => Promise<Result>): Promise<Result> {
  return db.kysely.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('rollcall master key', 0))`.execute(transaction)
    return work()
  })
}
