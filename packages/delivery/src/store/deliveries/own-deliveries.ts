/** Deliveries as a participant names its own: by the message_id that it has received them under. */
import type { Database } from '@rollcall/database/database'
import { isStorable } from '@rollcall/database/text'
import { participantNamed } from '@rollcall/participants/store/participant-names'

/** The ids of those that are of the participant; the others are left out, whether they are another's or nobody's. */
export async function ownDeliveryIds(
  { pool }: Pick<Database, 'pool'>,
  sender_id: string,
  message_ids: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from delivery where message_id = any($2) and participant = ${participantNamed('$1')}`,
    [sender_id, message_ids.filter(isStorable)],
  )
  return rows.map(({ id }) => id)
}
