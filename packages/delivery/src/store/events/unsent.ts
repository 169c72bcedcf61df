/**
 * Counts unsent deliveries and notifications, or gives those of a participant the state `dropped`, in which they are not sent.
 * After a restore nothing unsent is sent until an operator releases it.
 */
import type { PoolClient } from 'pg'

/** SQL for a `from` clause: how many pending deliveries each participant has, and how many of these were attempted. */
export const UNSENT_DELIVERIES_SQL = `(select participant, count(*) as count, count(*) filter (where attempts > 0) as attempted
  from delivery where state = 'pending' group by participant)`

/** SQL for a `from` clause: for each participant, the number of its notifications that are in no envelope yet. */
export const UNSENT_NOTIFICATIONS_SQL = `(select mailbox.participant, count(*) as count from notification
    join subscription on subscription.id = notification.subscription join mailbox on mailbox.id = subscription.mailbox
  where notification.state = 'waiting' group by mailbox.participant)`

/** Drops the pending deliveries and the waiting notifications of a participant. Deliveries without an address stay. */
export async function dropDeliveriesAndNotifications(client: Pick<PoolClient, 'query'>, participant: number): Promise<void> {
  await client.query(
    `update notification set state = 'dropped' from subscription join mailbox on mailbox.id = subscription.mailbox
      where subscription.id = notification.subscription and mailbox.participant = $1 and notification.state = 'waiting'`,
    [participant],
  )
  await client.query(
    `update delivery set state = 'dropped', reason = 'restored', next_attempt_at = null, claim = null,
        claimed_until = null, finished_at = now()
      where participant = $1 and state = 'pending'`,
    [participant],
  )
}
