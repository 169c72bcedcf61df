/** Outgoing messages that are held after a restore: how many, and what is not to be sent. */

import { withTransaction } from '@rollcall/database/transaction'
import type { Pool } from 'pg'

interface HasPool {
  readonly pool: Pool
}

/** Of one participant. */
export interface HeldMessages {
  /** sender_id */
  readonly participant: string
  /** Messages that are made, and would be attempted. */
  readonly deliveries: number
  /** Of them, those that were attempted before the snapshot. */
  readonly attempted: number
  /** Items of notifications that are not in a message yet. */
  readonly notifications: number
  /** Accepted requests that are not answered. */
  readonly requests: number
}

/** Those that have some, by sender_id. */
export async function heldMessages({ pool }: HasPool): Promise<readonly HeldMessages[]> {
  const { rows } = await pool.query<HeldMessages>(
    `select sender_id as participant, coalesce(sent.count, 0)::integer as deliveries,
        coalesce(sent.attempted, 0)::integer as attempted, coalesce(items.count, 0)::integer as notifications,
        coalesce(asked.count, 0)::integer as requests
      from participant
        left join (select participant, count(*) as count, count(*) filter (where attempts > 0) as attempted
          from delivery where state = 'pending' group by participant) as sent on sent.participant = participant.id
        left join (select mailbox.participant, count(*) as count from notification
          join subscription on subscription.id = notification.subscription join mailbox on mailbox.id = subscription.mailbox
          where notification.state = 'waiting' group by mailbox.participant) as items on items.participant = participant.id
        left join (select participant, count(*) as count from accepted_exchange
          where state in ('accepted', 'replying') and parent is null group by participant) as asked
          on asked.participant = participant.id
      where sent.count > 0 or items.count > 0 or asked.count > 0 order by sender_id`,
  )
  return rows
}

/** Nothing of what a participant would get now is sent. Its requests are not answered; it may send them again. */
export async function cancelHeld({ pool }: HasPool, participant: number): Promise<void> {
  await withTransaction(pool, async (client) => {
    await client.query("select set_config('statement_timeout', '0', true)")
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
    await client.query(
      `update accepted_exchange set state = 'failed', finished_at = now(), claim = null, claimed_until = null,
          open_chunks = case when open_chunks is null then null else 0 end
        where participant = $1 and state in ('accepted', 'replying')`,
      [participant],
    )
  })
}
