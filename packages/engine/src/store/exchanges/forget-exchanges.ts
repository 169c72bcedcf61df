/** Forgetting exchanges, ciphertexts and callbacks that are older than any message which freshness would let through. */
import type { Database } from '@rollcall/database/database'
import { isHeld } from '@rollcall/database/holds'
import { ACCEPTED_DAY, forgetDays, INBOX_DAY } from '@rollcall/participants/store/day-counts'
import { senderIdOf } from '@rollcall/participants/store/participant-names'

/** Rows in one statement: it takes some ten milliseconds and delays nobody. */
const AT_ONCE = 5_000

/**
 * Deletes what was received more than `retention` seconds ago by the database's clock, a few thousand rows a
 * statement, and answers how many rows went; with them the counts of days that are over. Any number of nodes may do so at once: they share the work.
 */
export async function forgetExchanges(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  await forgetDays(db, ACCEPTED_DAY)
  let total = 0
  for (const table of FORGOTTEN) total += await forget(db, table, retention)
  return total
}

/** With their items and attempts. A delivery that is still pending then waits for somebody who never came back. */
const FORGOTTEN = [
  'accepted_exchange',
  'delivery',
  'exchange',
  'sealed_message',
  'enrolment_receipt',
  'consent_use',
] as const

/** What of it is not finished: exchanges that were never answered, deliveries that were never taken. */
export async function countUnfinished(
  { pool }: Pick<Database, 'pool'>,
  retention: number,
): Promise<{ readonly exchanges: number; readonly deliveries: number }> {
  const { rows } = await pool.query<{ exchanges: number; deliveries: number }>(
    `select (select count(*) from accepted_exchange
        where received_at < now() - make_interval(secs => $1) and state in ('accepted', 'replying') and parent is null)
        as exchanges,
      (select count(*) from delivery
        where created_at < now() - make_interval(secs => $1) and state = 'pending' and mailbox is null) as deliveries`,
    [retention],
  )
  return rows[0] ?? { exchanges: 0, deliveries: 0 }
}

/** The same of the inbox, with its counts of days that are over. */
export async function forgetInbox(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  await forgetDays(db, INBOX_DAY)
  return forget(db, 'inbox_message', retention)
}

/** Rows that stay for now, as SQL. */
const STAYING: Readonly<Record<string, string>> = {
  // A request that was cut into chunks goes after its chunks. Who answers a chunk locks the chunk first and then its
  // request; to delete the request with its chunks would lock them in the other order.
  accepted_exchange:
    'exists (select from accepted_exchange as chunk where chunk.parent = accepted_exchange.correlation_id)',
  // A notification waits until its mailbox is closed.
  delivery: "state = 'pending' and mailbox is not null",
}

/** In the same statement, because no foreign key takes care of them. */
const withReferences = (deleted: string): string => `with gone as (${deleted} returning correlation_id),
  items as (delete from exchange_reference using gone where exchange_reference.correlation_id = gone.correlation_id)
  select 1 from gone`

type ForgottenTable = (typeof FORGOTTEN)[number] | 'inbox_message'

/** Old rows that do not stay. Receipts have no participant: a hold of any keeps all. */
function forgettable(table: ForgottenTable): string {
  const since = table === 'delivery' ? 'created_at' : 'received_at'
  const sender_id = table === 'enrolment_receipt' ? null : senderIdOf(`${table}.participant`)
  return `${table} where ${since} < now() - make_interval(secs => $1)
    and not (${STAYING[table] ?? 'false'}) and not ${isHeld({ time: `${table}.${since}`, sender_id })}`
}

async function forget({ pool }: Pick<Database, 'pool'>, table: ForgottenTable, retention: number): Promise<number> {
  const since = table === 'delivery' ? 'created_at' : 'received_at'
  const deleted = `delete from ${table} where ctid = any(array(
      select ctid from ${forgettable(table)} order by ${since} limit ${AT_ONCE} for update skip locked))`
  const statement = table === 'accepted_exchange' ? withReferences(deleted) : deleted
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(statement, [retention])
    if (!rowCount) return total
    total += rowCount
  }
}

/** How many rows `forgetExchanges` would delete now. */
export async function countExchanges(db: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const table of FORGOTTEN) total += await countForgettable(db, table, retention)
  return total
}

/** The same of `forgetInbox`. */
export const countInbox = (db: Pick<Database, 'pool'>, retention: number): Promise<number> =>
  countForgettable(db, 'inbox_message', retention)

async function countForgettable(
  { pool }: Pick<Database, 'pool'>,
  table: ForgottenTable,
  retention: number,
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*)::integer as count from ${forgettable(table)}`, [
    retention,
  ])
  return rows[0]?.count ?? 0
}

/** Clears the ids of records from exchanges that are answered: they were for further pages. */
export async function clearAnsweredItems({ pool }: Pick<Database, 'pool'>): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(
      `update exchange_item set record_ids = null where ctid = any(array(
        select exchange_item.ctid from exchange_item join accepted_exchange using (correlation_id)
        where record_ids is not null and state in ('replied', 'failed')
        limit ${AT_ONCE} for update of exchange_item skip locked))`,
    )
    if (!rowCount) return total
    total += rowCount
  }
}
