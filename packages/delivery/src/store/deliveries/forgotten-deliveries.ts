/** Deletes deliveries at the end of their retention. */
import type { Database } from '@rollcall/database/database'
import type { ExpiringRows } from '@rollcall/database/holds'
import { senderIdSql } from '@rollcall/participants/store/participant-names'
import { isNewestEnvelopeSql } from './deliveries.ts'

/**
 * The old deliveries that are deleted together with their attempts. A pending reply is deleted too, but a pending envelope of
 * notifications is not. An envelope that was given up because its mailbox was closed is not deleted while its notifications are
 * stored: they are sent again when the mailbox is opened.
 */
export const DELIVERIES_TO_DELETE: ExpiringRows = {
  table: 'delivery',
  since: 'created_at',
  sender_id: senderIdSql('delivery.participant'),
  stillNeeded: `mailbox is not null and (state = 'pending' or (state = 'dead' and reason is not distinct from 'expired'
    and exists (select from notification where ${isNewestEnvelopeSql('delivery')})))`,
}

/** Counts the pending deliveries older than an age, without those of notifications. @param seconds the age */
export async function countOldPendingDeliveries({ pool }: Pick<Database, 'pool'>, seconds: number): Promise<number> {
  const { rows } = await pool.query<{ untaken: number }>(
    `select count(*) as untaken from delivery
      where created_at < now() - make_interval(secs => $1) and state = 'pending' and mailbox is null`,
    [seconds],
  )
  return rows[0]?.untaken ?? 0
}
