/**
 * Stores which master key this database uses: its version and a value that checks it, never the key itself. Encrypts
 * the values of all tables again when the master key is replaced.
 */

import type { Database } from '@rollcall/database/database'
import { isForeignKeyViolation } from '@rollcall/database/database-errors'
import { StoreRefusal } from '@rollcall/database/refusal'
import { sql, type Transaction } from 'kysely'
import type { ClientBase } from 'pg'

export interface EncryptedTable {
  readonly table: string
  /** The column of the primary key. A value is bound to its table and primary key. */
  readonly id: string
  /** The purpose of the values. For each purpose, another key is derived from the master key. */
  readonly purpose: string
}

/** The tables of this package that have encrypted values. Other packages declare theirs with their tables. */
export const ENCRYPTED_TABLES = {
  own_key: { table: 'own_key', id: 'kid', purpose: 'own key' },
  body_key: { table: 'body_key', id: 'day', purpose: 'body key' },
} as const satisfies Record<string, EncryptedTable>

export interface MasterKeyRecord {
  /** The version of the master key, from 1 to 255. */
  readonly version: number
  readonly check_value: Buffer
}

/** Reads the version and check value of the master key; null when nothing was ever encrypted in this database. */
export async function findMasterKeyRecord({
  pool,
}: {
  readonly pool: Pick<ClientBase, 'query'>
}): Promise<MasterKeyRecord | null> {
  const { rows } = await pool.query<MasterKeyRecord>('select version, check_value from master_key limit 1')
  return rows[0] ?? null
}

/** Stores the record of the first master key, unless another node was faster. The caller then reads the stored one. */
export async function addFirstMasterKey(db: Database, record: MasterKeyRecord): Promise<void> {
  await db.pool.query('insert into master_key (version, check_value) values ($1, $2) on conflict (version) do nothing', [
    record.version,
    record.check_value,
  ])
}

/**
 * Replaces the master key of version `from`: `reencrypt` encrypts every value of every table again. If anything fails, nothing is
 * changed.
 * @param others the tables of other packages with encrypted values. All must be given: while a table has values under the old
 * master key, its foreign key makes the work fail
 * @returns the number of values that were encrypted again
 * @throws StoreRefusal `from` is no longer the current version
 */
export async function replaceMasterKey(
  db: Database,
  from: number,
  to: MasterKeyRecord,
  reencrypt: (of: EncryptedTable, id: string, sealed: Buffer) => Buffer,
  others: readonly EncryptedTable[] = [],
): Promise<number> {
  return db.kysely.transaction().execute(async (transaction) => {
    await lockKeyChanges(transaction)
    // Another transaction that writes a value waits for this lock, and then finds that its master key is gone.
    const { rows } = await sql`select from master_key where version = ${from} for update`.execute(transaction)
    if (rows.length === 0)
      throw new StoreRefusal('another command replaced the master key at the same time; run this command again')
    await sql`insert into master_key (version, check_value) values (${to.version}, ${to.check_value})`.execute(transaction)
    let reencrypted = 0
    for (const encrypted of [...Object.values(ENCRYPTED_TABLES), ...others])
      reencrypted += await reencryptTable(transaction, encrypted, reencrypt)
    // Foreign keys refuse to delete the old key while a value is encrypted with it.
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

const MOST_MASTER_KEY_TRIES = 3

/**
 * Runs work that encrypts and writes values. Runs it again, at most `MOST_MASTER_KEY_TRIES` times in all, if the master key was
 * replaced meanwhile, in which case the database has refused the values.
 */
export async function withCurrentMasterKey<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isForeignKeyViolation(error, /_master_version_fkey$/) || tries === MOST_MASTER_KEY_TRIES) throw error
    }
  }
}

/** Waits until no other transaction changes own keys or the master key; others then wait until this one ends. */
export async function lockKeyChanges(transaction: Transaction<unknown>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('rollcall keys', 0))`.execute(transaction)
}

/** Runs work while nobody else replaces the master key, in the database or in its file. */
export async function whileMasterKeyStays<Result>(db: Database, work: () => Promise<Result>): Promise<Result> {
  return db.kysely.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('rollcall master key', 0))`.execute(transaction)
    return work()
  })
}
