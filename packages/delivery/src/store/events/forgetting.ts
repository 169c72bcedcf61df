/** Deletes old events with their notifications, ended subscriptions, and unused mailboxes. */
import type { Database } from '@rollcall/database/database'
import { isHeldSql } from '@rollcall/database/holds'
import { senderIdSql } from '@rollcall/participants/store/participant-names'

/** The most events, subscriptions or mailboxes that one statement deletes: so few that other statements hardly wait. */
const MOST_DELETED_ROWS = 100
/** The most old rows that one statement looks at. Many may be kept, such as those of a closed mailbox. */
const MOST_OLD_ROWS_PER_READ = 1_000
/** The most notifications of old events that one statement deletes. */
const MOST_DELETED_NOTIFICATIONS = 5_000

/**
 * SQL condition: the event is older than $1 seconds, no hold keeps it, and none of its notifications may still be sent. In a
 * mailbox that is open, or was closed less than $1 seconds ago, a notification may still be sent if it waits, has a pending
 * delivery, or was given up when the mailbox was closed.
 */
const IS_FORGETTABLE_EVENT_SQL = `recorded_at < now() - make_interval(secs => $1) and not exists (
      select 1 from notification join mailbox on mailbox.id = notification.mailbox
        left join delivery on delivery.id = notification.delivery
      where notification.event = event.id and (mailbox.state = 'open' or mailbox.closed_at > now() - make_interval(secs => $1))
        and (notification.state = 'waiting' or delivery.state = 'pending'
          or (delivery.state = 'dead' and delivery.reason = 'expired')))
      and not ${isHeldSql({ time: 'event.recorded_at', sender_id: null })}`

/**
 * The tables whose old rows are deleted, in this order. `where`: the condition of rows to delete; `$1` is the retention in
 * seconds. `time`: the column from which the age of a row is counted. `before`: deletes what must go before these rows; null:
 * nothing must.
 */
const TABLES_WITH_ROWS_TO_DELETE = [
  { table: 'event', where: IS_FORGETTABLE_EVENT_SQL, time: 'recorded_at', before: forgetNotifications },
  // An ended subscription stays while one of its notifications is stored.
  {
    table: 'subscription',
    where: `state = 'ended' and ended_at < now() - make_interval(secs => $1)
      and not exists (select 1 from notification where notification.subscription = subscription.id)
      and not ${isHeldSql({ time: 'subscription.ended_at', sender_id: senderIdSql('subscription.participant') })}`,
    time: 'ended_at',
    before: null,
  },
  {
    table: 'mailbox',
    where: `created_at < now() - make_interval(secs => $1)
      and not exists (select 1 from subscription where subscription.mailbox = mailbox.id)
      and not exists (select 1 from notification where notification.mailbox = mailbox.id and state = 'waiting')
      and not exists (select 1 from delivery where delivery.mailbox = mailbox.id and state = 'pending')`,
    time: 'created_at',
    before: null,
  },
] as const

/**
 * Deletes what is older than `retention` seconds by the database's clock: at most a hundred events, subscriptions or
 * mailboxes in each statement. Several nodes may do so at once.
 * @returns the number of events, subscriptions and mailboxes
 */
export async function forgetEvents({ pool }: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const { table, where, time, before } of TABLES_WITH_ROWS_TO_DELETE) {
    for (let last = null as DeletionCandidateRow | null; ; ) {
      const { rows }: { readonly rows: readonly DeletionCandidateRow[] } = await pool.query<DeletionCandidateRow>(
        `select id, time::text, (${where}) as due from (
           select *, ${time} as time from ${table} where ${time} < now() - make_interval(secs => $1)
             and ($2::timestamptz is null or (${time}, id) > ($2, $3::bigint)) order by ${time}, id limit $4
         ) as ${table} order by time, id`,
        [retention, last?.time ?? null, last?.id ?? null, MOST_OLD_ROWS_PER_READ],
      )
      const due = rows.filter((row) => row.due).map(({ id }) => id)
      for (let at = 0; at < due.length; at += MOST_DELETED_ROWS) {
        const ids = due.slice(at, at + MOST_DELETED_ROWS)
        await before?.({ pool }, ids, retention)
        const { rowCount } = await pool.query(
          `delete from ${table} where id = any(array(
            select id from ${table} where id = any($2) and ${where} for update skip locked))`,
          [retention, ids],
        )
        total += rowCount ?? 0
      }
      last = rows.at(-1) ?? null
      if (rows.length < MOST_OLD_ROWS_PER_READ) break
    }
  }
  return total
}

/** A row that is old, and whether it is to be deleted. */
interface DeletionCandidateRow {
  readonly id: string
  /** The time of the row as a text of PostgreSQL, which has microseconds: a JavaScript Date has none. */
  readonly time: string
  readonly due: boolean
}

/**
 * Deletes the notifications of old events, before the events are deleted. PostgreSQL would delete the notifications together with
 * their event, but in one statement. With many notifications that statement would exceed the statement timeout at every try.
 */
async function forgetNotifications(
  { pool }: Pick<Database, 'pool'>,
  events: readonly string[],
  retention: number,
): Promise<void> {
  for (let count = MOST_DELETED_NOTIFICATIONS; count === MOST_DELETED_NOTIFICATIONS; ) {
    const { rowCount } = await pool.query(
      `delete from notification where id = any(array(
        select notification.id from event join notification on notification.event = event.id
        where event.id = any($2) and ${IS_FORGETTABLE_EVENT_SQL} limit $3 for update of notification skip locked))`,
      [retention, events, MOST_DELETED_NOTIFICATIONS],
    )
    count = rowCount ?? 0
  }
}

/** Counts the rows that `forgetEvents` would delete now. A row that can be deleted only after others is not counted. */
export async function countRowsToForget({ pool }: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const { table, where } of TABLES_WITH_ROWS_TO_DELETE) {
    const { rows } = await pool.query<{ count: number }>(`select count(*)::integer as count from ${table} where ${where}`, [
      retention,
    ])
    total += rows[0]?.count ?? 0
  }
  return total
}

/** The most events whose documents one statement deletes. */
const MOST_DELETED_EVENT_DOCUMENTS = 500

/** SQL condition: the `event` may still be sent. A notification of it waits, or is in an envelope that was not delivered. */
const MAY_EVENT_BE_SENT_SQL = `exists (
    select 1 from notification left join delivery on delivery.id = notification.delivery
    where notification.event = event.id and (notification.state = 'waiting'
      or (notification.state = 'sent' and delivery.state is distinct from 'delivered')))`

/**
 * Deletes the documents of events that are older than a minute and whose notifications are all delivered or dropped.
 * @returns the number of events
 */
export async function deleteSentEventDocuments({ pool }: Pick<Database, 'pool'>): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(
      `update event set document = null, identifiers = null, replaced_by = null where id = any(array(
        select id from event where (document is not null or identifiers is not null or replaced_by is not null)
          and recorded_at < now() - interval '1 minute' and not ${MAY_EVENT_BE_SENT_SQL}
        limit ${MOST_DELETED_EVENT_DOCUMENTS} for update skip locked))`,
    )
    if (!rowCount) return total
    total += rowCount
  }
}
