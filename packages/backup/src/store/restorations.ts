/**
 * Notes the progress of a restore in the restored database. Servers start only when the journal was applied, and send
 * messages only after `rollcall restore release`.
 */

import { StoreRefusal } from '@rollcall/database/refusal'
import { type Kysely, sql } from 'kysely'
import type { Pool, PoolClient } from 'pg'

type Client = Pick<PoolClient, 'query'>

export interface Restoration {
  readonly id: number
  /** The id of the backup; null: the database was restored without Rollcall. */
  readonly backup: string | null
  readonly begun_at: Date
  /** The time at which the backup was loaded; null: not yet. */
  readonly loaded_at: Date | null
  readonly snapshot_at: Date | null
  /** The time at which the journal was applied, or given up by the operator; null: not yet. */
  readonly applied_at: Date | null
  /** The time at which outgoing messages were released; null: they are held. */
  readonly released_at: Date | null
}

/** Finds the newest restoration; null: this database was never restored. */
export async function findLastRestoration(client: Client): Promise<Restoration | null> {
  const { rows } = await client.query<Restoration>('select * from restoration order by id desc limit 1')
  return rows[0] ?? null
}

/** Finds the newest restoration; null: this database was never restored, or has no tables yet. */
export async function findRestorationIfMigrated(client: Client): Promise<Restoration | null> {
  const { rows } = await client.query<{ found: boolean }>(`select pg_catalog.to_regclass('restoration') is not null as found`)
  return rows[0]?.found === true ? findLastRestoration(client) : null
}

/** Inserts a restore's row. @param backup the id of the backup; null: restored without Rollcall @returns the new row's id */
export async function beginRestoration(client: Client, backup: string | null): Promise<number> {
  const { rows } = await client.query<{ id: number }>('insert into restoration (backup) values ($1) returning id', [backup])
  const [row] = rows
  if (row === undefined) throw new Error('the restoration was not inserted')
  return row.id
}

/** Deletes the restorations that have loaded nothing, because they failed or were killed. */
export async function deleteUnloadedRestorations(client: Client): Promise<void> {
  await client.query('delete from restoration where loaded_at is null')
}

/** Sets `loaded_at` and `snapshot_at` of a restoration whose backup is loaded. */
export async function markRestorationLoaded(client: Client, id: number, snapshot_at: Date): Promise<void> {
  await client.query('update restoration set loaded_at = now(), snapshot_at = $2 where id = $1', [id, snapshot_at])
}

/**
 * Sets `applied_at`: the journal was applied, or given up.
 * @param connection the transaction that writes the tombstone which states this restore in the audit log
 */
export async function markJournalApplied(connection: Kysely<unknown>, id: number): Promise<void> {
  await sql`update restoration set applied_at = now() where id = ${id}`.execute(connection)
}

/** Releases the messages that restores hold. @returns false when no restore held messages */
export async function releaseMessagesHeldByRestore(client: Client): Promise<boolean> {
  const { rowCount } = await client.query('update restoration set released_at = now() where released_at is null')
  return (rowCount ?? 0) > 0
}

/** True when outgoing messages are held after a restore, until the operator releases them. */
export async function areMessagesHeldByRestore({ pool }: { readonly pool: Pool }): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>({
    name: 'outgoing messages are held',
    text: 'select exists (select from restoration where released_at is null) as held',
  })
  return rows[0]?.held === true
}

const NOT_LOADED_MESSAGE = 'a restore of this database has begun and not ended: run rollcall restore again'

/** Refuses a database into which a backup is not loaded completely: a restore still runs, or failed. @throws StoreRefusal */
export async function refuseUnloadedDatabase({ pool }: { readonly pool: Pool }): Promise<void> {
  const last = await findRestorationIfMigrated(pool)
  if (last !== null && last.loaded_at === null) throw new StoreRefusal(NOT_LOADED_MESSAGE)
}

/** Refuses to serve a database until the backup is loaded, and the journal is applied or given up. @throws StoreRefusal */
export async function refuseUnfinishedRestore({ pool }: { readonly pool: Pool }): Promise<void> {
  const last = await findRestorationIfMigrated(pool)
  if (last === null || last.applied_at !== null) return
  throw new StoreRefusal(
    last.loaded_at === null
      ? NOT_LOADED_MESSAGE
      : 'this database was restored, and the journal is not applied yet: run rollcall restore again, with --journal',
  )
}
