/** Counts outgoing messages that are held after a restore, and cancels them. */

import type { Database } from '@rollcall/database/database'
import { NO_STATEMENT_TIMEOUT_SQL, withTransaction } from '@rollcall/database/transaction'
import {
  dropDeliveriesAndNotifications,
  UNSENT_DELIVERIES_SQL,
  UNSENT_NOTIFICATIONS_SQL,
} from '@rollcall/delivery/store/events/unsent'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'

/** How many messages of one participant are held after a restore, and how many notifications and requests wait. */
export interface HeldByRestoreCounts {
  /** The sender_id of the participant. */
  readonly participant: string
  /** The number of messages that are ready to be sent, and will be attempted after the release. */
  readonly deliveries: number
  /** The number of `deliveries` that were attempted before the restored snapshot was taken. */
  readonly attempted: number
  /** The number of notifications that are in no message yet. */
  readonly notifications: number
  /** The number of accepted requests that are not answered. */
  readonly requests: number
}

/**
 * Counts, for each participant, what a restored database holds back until `rollcall restore release`. Lists only participants
 * that have any, sorted by sender_id.
 */
export async function countMessagesHeldByRestore({ pool }: Pick<Database, 'pool'>): Promise<readonly HeldByRestoreCounts[]> {
  const { rows } = await pool.query<HeldByRestoreCounts>(
    `select sender_id as participant, coalesce(sent.count, 0)::integer as deliveries,
        coalesce(sent.attempted, 0)::integer as attempted, coalesce(items.count, 0)::integer as notifications,
        coalesce(asked.count, 0)::integer as requests
      from ${PARTICIPANTS_SQL} as participant
        left join ${UNSENT_DELIVERIES_SQL} as sent on sent.participant = participant.id
        left join ${UNSENT_NOTIFICATIONS_SQL} as items on items.participant = participant.id
        left join (select participant, count(*) as count from accepted_exchange
          where state in ('accepted', 'replying') and parent is null group by participant) as asked
          on asked.participant = participant.id
      where sent.count > 0 or items.count > 0 or asked.count > 0 order by sender_id`,
  )
  return rows
}

/** Cancels all that would be sent to a participant. Its accepted requests get no answer: it may ask again in new messages. */
export async function cancelMessagesHeldByRestore({ pool }: Pick<Database, 'pool'>, participant: number): Promise<void> {
  await withTransaction(pool, async (client) => {
    await client.query(NO_STATEMENT_TIMEOUT_SQL)
    await dropDeliveriesAndNotifications(client, participant)
    await client.query(
      `update accepted_exchange set state = 'failed', finished_at = now(), claim = null, claimed_until = null,
          open_chunks = case when open_chunks is null then null else 0 end
        where participant = $1 and state in ('accepted', 'replying')`,
      [participant],
    )
  })
}
