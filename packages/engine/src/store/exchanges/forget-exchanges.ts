/** Deletes exchanges with their deliveries, fingerprints of ciphertexts, and callbacks, after their retention. */

import { CONSENT_USE_RETENTION_ROWS } from '@rollcall/consents/store/consent-uses'
import type { Database } from '@rollcall/database/database'
import { deletableRowsSql, type ExpiringRows } from '@rollcall/database/holds'
import { countOldPendingDeliveries, DELIVERIES_TO_DELETE } from '@rollcall/delivery/store/deliveries/forgotten-deliveries'
import { ENCRYPTION_KEYS_SINCE_SQL } from '@rollcall/keys/store/own-keys'
import { ACCEPTED_DAY, deleteOldDayCounts, INBOX_DAY } from '@rollcall/participants/store/day-counts'
import { senderIdSql } from '@rollcall/participants/store/participant-names'

/** The most rows that one statement deletes: it takes some ten milliseconds, so that nobody waits long. */
const MOST_DELETED_ROWS = 5_000
/** One statement deletes accepted exchanges only until they have this many items together, because it deletes their items too. */
const MOST_DELETED_ITEMS = 50_000

/**
 * Deletes the rows of `EXPIRING_ROWS` that are older than `retention` seconds by the clock of the database, but not those that
 * a hold keeps or that are still needed. Deletes old counts of messages per day too. Several nodes may share the work.
 * @returns the number of rows, without those of the counts
 */
export async function forgetExchanges(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  await deleteOldDayCounts(db, ACCEPTED_DAY)
  let total = 0
  for (const rows of EXPIRING_ROWS) total += await deleteExpiredRows(db, rows, retention)
  return total
}

/** Describes which rows of a table are deleted: their age is counted from `received_at`. */
const describeExpiringRows = (table: string, more: Partial<ExpiringRows> = {}): ExpiringRows => ({
  table,
  since: 'received_at',
  sender_id: senderIdSql(`${table}.participant`),
  ...more,
})

const EXPIRING_ACCEPTED_EXCHANGES = describeExpiringRows('accepted_exchange', {
  // A divided request is deleted after its chunks. Answering locks a chunk first and then its request, so deleting both
  // in one statement could deadlock.
  stillNeeded: 'exists (select from accepted_exchange as chunk where chunk.parent = accepted_exchange.correlation_id)',
})

/** The old rows to delete, for each table. Their items and attempts are deleted with them. */
const EXPIRING_ROWS: readonly ExpiringRows[] = [
  EXPIRING_ACCEPTED_EXCHANGES,
  DELIVERIES_TO_DELETE,
  describeExpiringRows('exchange'),
  // A ciphertext has no time in it, so a copy of it could be sent as long as one of our keys decrypts it. Its row stays while we
  // have a valid encryption key that was made before the receipt.
  describeExpiringRows('sealed_message', { stillNeeded: `sealed_message.received_at >= ${ENCRYPTION_KEYS_SINCE_SQL}` }),
  // A receipt names no participant. `sender_id: null` means: a hold on any participant keeps all receipts.
  describeExpiringRows('enrolment_receipt', { sender_id: null }),
  CONSENT_USE_RETENTION_ROWS,
]

/** The old callbacks to delete: those in the inbox, which other systems sent to us. */
const EXPIRING_INBOX_MESSAGES = describeExpiringRows('inbox_message')

/**
 * Counts what is older than the retention and not finished: exchanges that are not answered completely, and deliveries,
 * except notifications, that are pending. Those that a hold keeps count too.
 */
export async function countOldQueuedWork(
  { pool }: Pick<Database, 'pool'>,
  retention: number,
): Promise<{ readonly exchanges: number; readonly deliveries: number }> {
  const { rows } = await pool.query<{ exchanges: number }>(
    `select count(*) as exchanges from accepted_exchange
      where received_at < now() - make_interval(secs => $1) and state in ('accepted', 'replying') and parent is null`,
    [retention],
  )
  return { exchanges: rows[0]?.exchanges ?? 0, deliveries: await countOldPendingDeliveries({ pool }, retention) }
}

/** Deletes old callbacks of the inbox, and its counts of past days. @returns the number of callbacks */
export async function forgetInbox(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  await deleteOldDayCounts(db, INBOX_DAY)
  return deleteExpiredRows(db, EXPIRING_INBOX_MESSAGES, retention)
}

/**
 * Makes SQL that selects the ctids of these exchanges in their order, up to the one with which they have `MOST_DELETED_ITEMS`
 * items or more together.
 */
const exchangesWithinItemLimitSql = (exchanges: string): string => `select ctid from (
    select ctid, sum(items) over (rows unbounded preceding) - items as before from (${exchanges}) as old
  ) as counted where before < ${MOST_DELETED_ITEMS}`

/** Makes SQL that deletes exchanges and also their reference_ids, which no foreign key deletes. */
const deleteWithReferencesSql = (deleted: string): string => `with gone as (${deleted} returning correlation_id),
  items as (delete from exchange_reference using gone where exchange_reference.correlation_id = gone.correlation_id)
  select 1 from gone`

async function deleteExpiredRows({ pool }: Pick<Database, 'pool'>, rows: ExpiringRows, retention: number): Promise<number> {
  const hasItems = rows === EXPIRING_ACCEPTED_EXCHANGES
  const oldest = `select ctid${hasItems ? ', items' : ''} from ${deletableRowsSql(rows)}
      order by ${rows.since} limit ${MOST_DELETED_ROWS} for update skip locked`
  const deleted = `delete from ${rows.table} where ctid = any(array(${hasItems ? exchangesWithinItemLimitSql(oldest) : oldest}))`
  const statement = hasItems ? deleteWithReferencesSql(deleted) : deleted
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(statement, [retention])
    if (!rowCount) return total
    total += rowCount
  }
}

/** Counts the rows that `forgetExchanges` would delete now, except divided requests whose chunks are still there. */
export async function countExchangesToForget(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const rows of EXPIRING_ROWS) total += await countForgettableRows(db, rows, retention)
  return total
}

/** Counts the callbacks that `forgetInbox` would delete now. */
export const countInboxToForget = (db: Pick<Database, 'pool'>, retention: number): Promise<number> =>
  countForgettableRows(db, EXPIRING_INBOX_MESSAGES, retention)

async function countForgettableRows({ pool }: Pick<Database, 'pool'>, old: ExpiringRows, retention: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*)::integer as count from ${deletableRowsSql(old)}`, [
    retention,
  ])
  return rows[0]?.count ?? 0
}

/**
 * Deletes the record ids of answered and failed exchanges, which only further pages needed. The record ids of a divided request
 * stay while one of its chunks is not answered.
 * @returns how many items
 */
export async function clearAnsweredRecordIds({ pool }: Pick<Database, 'pool'>): Promise<number> {
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
