/** Deletes exchanges with their deliveries, fingerprints of ciphertexts, and callbacks, after their retention. */

import { FORGOTTEN_USES } from '@rollcall/consents/store/consent-uses'
import type { Database } from '@rollcall/database/database'
import { deletableRowsSql, type ExpiringRows } from '@rollcall/database/holds'
import { countUndelivered, FORGOTTEN_DELIVERIES } from '@rollcall/delivery/store/deliveries/forgotten-deliveries'
import { ENCRYPTION_KEYS_SINCE_SQL } from '@rollcall/keys/store/own-keys'
import { ACCEPTED_DAY, deleteOldDays, INBOX_DAY } from '@rollcall/participants/store/day-counts'
import { senderIdSql } from '@rollcall/participants/store/participant-names'

/** The most rows that one statement deletes: it takes some ten milliseconds, so that nobody waits long. */
const MOST_DELETED_ROWS = 5_000
/** When the accepted exchanges of one statement have this many items, it deletes no further exchange: their items go with them. */
const MOST_DELETED_ITEMS = 50_000

/**
 * Deletes what is older than `retention` seconds by the clock of the database, some thousand rows at a time, but not what is held
 * or still needed. Deletes the counts of past days too. Several nodes may do this at once and share the work.
 * @returns the number of rows, without those of the counts
 */
export async function forgetExchanges(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  await deleteOldDays(db, ACCEPTED_DAY)
  let total = 0
  for (const rows of FORGOTTEN_TABLES) total += await forgetRows(db, rows, retention)
  return total
}

/** Describes which rows of a table are deleted: their age is counted from `received_at`. */
const rowsByReceivedAt = (table: string, more: Partial<ExpiringRows> = {}): ExpiringRows => ({
  table,
  since: 'received_at',
  sender_id: senderIdSql(`${table}.participant`),
  ...more,
})

const FORGOTTEN_ACCEPTED_EXCHANGES = rowsByReceivedAt('accepted_exchange', {
  // A divided request is deleted after its chunks. Answering locks a chunk first and then its request, so deleting both
  // in one statement could deadlock.
  stillNeeded: 'exists (select from accepted_exchange as chunk where chunk.parent = accepted_exchange.correlation_id)',
})

/** The old rows to delete, for each table. Their items and attempts are deleted with them. */
const FORGOTTEN_TABLES: readonly ExpiringRows[] = [
  FORGOTTEN_ACCEPTED_EXCHANGES,
  FORGOTTEN_DELIVERIES,
  rowsByReceivedAt('exchange'),
  // A ciphertext has no time inside: its copy can be sent as long as our key decrypts it.
  rowsByReceivedAt('sealed_message', { stillNeeded: `sealed_message.received_at >= ${ENCRYPTION_KEYS_SINCE_SQL}` }),
  // Receipts name no participant, so a hold on any participant keeps all receipts.
  rowsByReceivedAt('enrolment_receipt', { sender_id: null }),
  FORGOTTEN_USES,
]

const FORGOTTEN_CALLBACKS = rowsByReceivedAt('inbox_message')

/**
 * Counts what is older than the retention and not finished: exchanges that are not answered completely, and deliveries,
 * except notifications, that are pending. Those that a hold keeps count too.
 */
export async function countOldUnfinishedWork(
  { pool }: Pick<Database, 'pool'>,
  retention: number,
): Promise<{ readonly exchanges: number; readonly deliveries: number }> {
  const { rows } = await pool.query<{ exchanges: number }>(
    `select count(*) as exchanges from accepted_exchange
      where received_at < now() - make_interval(secs => $1) and state in ('accepted', 'replying') and parent is null`,
    [retention],
  )
  return { exchanges: rows[0]?.exchanges ?? 0, deliveries: await countUndelivered({ pool }, retention) }
}

/** Deletes old callbacks of the inbox, and its counts of past days. @returns the number of callbacks */
export async function forgetInbox(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  await deleteOldDays(db, INBOX_DAY)
  return forgetRows(db, FORGOTTEN_CALLBACKS, retention)
}

/** Makes SQL that selects, of these exchanges, the first ones up to `MOST_DELETED_ITEMS`, and at least one. */
const withFewItemsSql = (exchanges: string): string => `select ctid from (
    select ctid, sum(items) over (rows unbounded preceding) - items as before from (${exchanges}) as old
  ) as counted where before < ${MOST_DELETED_ITEMS}`

/** Makes SQL that deletes exchanges and also their reference_ids, which no foreign key deletes. */
const deleteWithReferencesSql = (deleted: string): string => `with gone as (${deleted} returning correlation_id),
  items as (delete from exchange_reference using gone where exchange_reference.correlation_id = gone.correlation_id)
  select 1 from gone`

async function forgetRows({ pool }: Pick<Database, 'pool'>, rows: ExpiringRows, retention: number): Promise<number> {
  const hasItems = rows === FORGOTTEN_ACCEPTED_EXCHANGES
  const oldest = `select ctid${hasItems ? ', items' : ''} from ${deletableRowsSql(rows)}
      order by ${rows.since} limit ${MOST_DELETED_ROWS} for update skip locked`
  const deleted = `delete from ${rows.table} where ctid = any(array(${hasItems ? withFewItemsSql(oldest) : oldest}))`
  const statement = hasItems ? deleteWithReferencesSql(deleted) : deleted
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(statement, [retention])
    if (!rowCount) return total
    total += rowCount
  }
}

/** Counts the rows that `forgetExchanges` would delete now, except divided requests whose chunks are still there. */
export async function countExchanges(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const rows of FORGOTTEN_TABLES) total += await countForgettableRows(db, rows, retention)
  return total
}

/** Counts the callbacks that `forgetInbox` would delete now. */
export const countInbox = (db: Pick<Database, 'pool'>, retention: number): Promise<number> =>
  countForgettableRows(db, FORGOTTEN_CALLBACKS, retention)

async function countForgettableRows({ pool }: Pick<Database, 'pool'>, old: ExpiringRows, retention: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*)::integer as count from ${deletableRowsSql(old)}`, [
    retention,
  ])
  return rows[0]?.count ?? 0
}

/**
 * Deletes the record ids of answered and failed exchanges, which only further pages needed. Those of a divided request stay while
 * one of its chunks is not answered.
 * @returns how many items
 */
export async function clearAnsweredItems({ pool }: Pick<Database, 'pool'>): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(
      `update exchange_item set record_ids = null, record_keys = null where ctid = any(array(
        select exchange_item.ctid from exchange_item join accepted_exchange using (correlation_id)
        where record_ids is not null and state in ('replied', 'failed') and coalesce(open_chunks, 0) = 0
        limit ${MOST_DELETED_ROWS} for update of exchange_item skip locked))`,
    )
    if (!rowCount) return total
    total += rowCount
  }
}
