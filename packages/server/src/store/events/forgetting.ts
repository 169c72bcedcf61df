/** Forgetting events with their notifications, ended subscriptions, and mailboxes that nobody uses any more. */
import type { Database } from '../db/database.ts'

/** Rows in one statement, which delays nobody. */
const AT_ONCE = 500

/** What is forgotten, in this order; each statement has the retention in seconds and a number of rows. */
const FORGOTTEN = [
  // What waits in an open mailbox, or is on its way, is not forgotten.
  `delete from event where id = any(array(
    select id from event
    where recorded_at < now() - make_interval(secs => $1) and not exists (
      select 1 from notification join mailbox on mailbox.id = notification.mailbox
        left join delivery on delivery.id = notification.delivery
      where notification.event = event.id and mailbox.state = 'open'
        and (notification.state = 'waiting' or delivery.state = 'pending'))
    order by recorded_at limit $2 for update skip locked))`,
  // An item of a reply may still name it.
  `delete from subscription where id = any(array(
    select id from subscription
    where state = 'ended' and ended_at < now() - make_interval(secs => $1)
      and not exists (select 1 from notification where notification.subscription = subscription.id)
    limit $2 for update skip locked))`,
  `delete from mailbox where id = any(array(
    select id from mailbox
    where created_at < now() - make_interval(secs => $1)
      and not exists (select 1 from subscription where subscription.mailbox = mailbox.id)
      and not exists (select 1 from notification where notification.mailbox = mailbox.id and state = 'waiting')
      and not exists (select 1 from delivery where delivery.mailbox = mailbox.id and state = 'pending')
    limit $2 for update skip locked))`,
] as const

/**
 * Forgets what is older than `retention` seconds by the database's clock, a few hundred rows a statement; any number of
 * nodes may do so at once.
 * @returns how many rows
 */
export async function forgetEvents({ pool }: Pick<Database, 'pool'>, retention: number): Promise<number> {
  let total = 0
  for (const text of FORGOTTEN) {
    for (let count = AT_ONCE; count === AT_ONCE; total += count) {
      const { rowCount } = await pool.query(text, [retention, AT_ONCE])
      count = rowCount ?? 0
    }
  }
  return total
}
