/** Deliveries as a participant names its own: by the message_id that it has received them under. */
import type { Database } from '@rollcall/database/database'
import { isStorable } from '@rollcall/database/text'

/** The ids of those that are of the participant; the others are left out, whether they are another's or nobody's. */
export async function ownDeliveryIds(
  { pool }: Pick<Database, 'pool'>,
  sender_id: string,
  message_ids: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select delivery.id from delivery join participant on participant.id = delivery.participant
      where message_id = any($2) and sender_id = $1`,
    [sender_id, message_ids.filter(isStorable)],
  )
  return rows.map(({ id }) => id)
}
