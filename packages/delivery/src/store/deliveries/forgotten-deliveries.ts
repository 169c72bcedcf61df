/** Deliveries that are older than any message which freshness would let through. */
import type { Database } from '@rollcall/database/database'
import type { ForgottenRows } from '@rollcall/database/holds'
import { senderIdOf } from '@rollcall/participants/store/participant-names'

/** With their attempts. One that is still pending waits for somebody who never came back; a notification waits until its mailbox is closed. */
export const FORGOTTEN_DELIVERIES: ForgottenRows = {
  table: 'delivery',
  since: 'created_at',
  sender_id: senderIdOf('delivery.participant'),
  stillNeeded: "state = 'pending' and mailbox is not null",
}

/** Those that were never taken for so many seconds; notifications are not among them. */
export async function countUntaken({ pool }: Pick<Database, 'pool'>, seconds: number): Promise<number> {
  const { rows } = await pool.query<{ untaken: number }>(
    `select count(*) as untaken from delivery
      where created_at < now() - make_interval(secs => $1) and state = 'pending' and mailbox is null`,
    [seconds],
  )
  return rows[0]?.untaken ?? 0
}
