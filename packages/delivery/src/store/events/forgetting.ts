/** Deletes old events with their notifications, ended subscriptions, and mailboxes without use. */
import type { Database } from '@rollcall/database/database'
import { isHeld } from '@rollcall/database/holds'
import { senderIdOf } from '@rollcall/participants/store/participant-names'

/** Rows that one statement deletes: so few that it delays nobody. */
const AT_ONCE = 500

/** Tables in the order in which rows are deleted: their old rows by the retention in seconds, and the order of rows. */
const FORGOTTEN = [
  // Events of open mailboxes and of deliveries on their way stay.
  {
    table: 'event',
    where: `recorded_at < now() - make_interval(secs => $1) and not exists (
      select 1 from notification join mailbox on mailbox.id = notification.mailbox
        left join delivery on delivery.id = notification.delivery
      where notification.event = event.id and mailbox.state = 'open'
        and (notification.state = 'waiting' or delivery.state = 'pending'))
      and not ${isHeld({ time: 'event.recorded_at', sender_id: null })}`,
    order: 'order by recorded_at',
  },
  // An ended subscription stays while a notification of it is stored.
  {
    table: 'subscription',
    where: `state = 'ended' and ended_at < now() - make_interval(secs => $1)
      and not exists (select 1 from notification where notification.subscription = subscription.id)
      and not ${isHeld({ time: 'subscription.ended_at', sender_id: senderIdOf('subscription.participant') })}`,
    order: '',
  },
  {
    table: 'mailbox',
    where: `created_at < now() - make_interval(secs => $1)
      and not exists (select 1 from subscription where subscription.mailbox = mailbox.id)
      and not exists (select 1 from notification where notification.mailbox = mailbox.id and state = 'waiting')
      and not exists (select 1 from delivery where delivery.mailbox = mailbox.id and state = 'pending')`,
    order: '',
  },
] as const

/**
 * Forgets what is older than `retention` seconds by the database's clock, a few hundred rows a statement; any number of
 * nodes may do so at once.
 * @returns how many rows
 */
export async function forgetEvents({ pool }: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const { table, where, order } of FORGOTTEN) {
    const text = `delete from ${table} where id = any(array(
      select id from ${table} where ${where} ${order} limit $2 for update skip locked))`
    for (let count = AT_ONCE; count === AT_ONCE; total += count) {
      const { rowCount } = await pool.query(text, [retention, AT_ONCE])
      count = rowCount ?? 0
    }
  }
  return total
}

/** How many rows `forgetEvents` would delete now; those that wait for others are not among them. */
export async function countEvents({ pool }: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const { table, where } of FORGOTTEN) {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::integer as count from ${table} where ${where}`,
      [retention],
    )
    total += rows[0]?.count ?? 0
  }
  return total
}

/** Events that are cleared in one statement. */
const CLEARED_AT_ONCE = 500

/** SQL of events that may be sent again: undelivered ones, and those of envelopes that were taken back. */
const MAY_BE_SENT = `exists (
    select 1 from notification left join delivery on delivery.id = notification.delivery
    where notification.event = event.id and (notification.state = 'waiting'
      or (notification.state = 'sent' and delivery.state is distinct from 'delivered')))`

/**
 * Clears the documents of events of which nobody is to be notified any more; the event itself stays.
 * @returns how many
 */
export async function clearSentEvents({ pool }: Pick<Database, 'pool'>): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(
      `update event set document = null, identifiers = null, replaced_by = null where id = any(array(
        select id from event where (document is not null or identifiers is not null or replaced_by is not null)
          and recorded_at < now() - interval '1 minute' and not ${MAY_BE_SENT}
        limit ${CLEARED_AT_ONCE} for update skip locked))`,
    )
    if (!rowCount) return total
    total += rowCount
  }
}
