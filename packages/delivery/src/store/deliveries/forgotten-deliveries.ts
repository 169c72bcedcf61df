/** Deletes deliveries at the end of their retention. */
import type { Database } from '@rollcall/database/database'
import type { ExpiringRows } from '@rollcall/database/holds'
import { senderIdSql } from '@rollcall/participants/store/participant-names'

/**
 * The old deliveries that are deleted with their attempts, also pending ones, whose receiver has not come back. A pending
 * envelope of notifications stays until its mailbox is closed.
 */
export const FORGOTTEN_DELIVERIES: ExpiringRows = {
  table: 'delivery',
  since: 'created_at',
  sender_id: senderIdSql('delivery.participant'),
  stillNeeded: "state = 'pending' and mailbox is not null",
}

/** Counts the pending deliveries older than an age, without those of notifications. @param seconds the age */
export async function countUndelivered({ pool }: Pick<Database, 'pool'>, seconds: number): Promise<number> {
  const { rows } = await pool.query<{ untaken: number }>(
    `select count(*) as untaken from delivery
      where created_at < now() - make_interval(secs => $1) and state = 'pending' and mailbox is null`,
    [seconds],
  )
  return rows[0]?.untaken ?? 0
}
