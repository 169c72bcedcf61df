/** Finds the deliveries of a participant by the message_ids that it received. */
import type { Database } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import { participantIdSql } from '@rollcall/participants/store/participant-names'

/** Finds the ids of the participant's deliveries with these message_ids; deliveries of other participants are left out. */
export async function findParticipantDeliveryIds(
  { pool }: Pick<Database, 'pool'>,
  sender_id: string,
  message_ids: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from delivery where message_id = any($2) and participant = ${participantIdSql('$1')}`,
    [sender_id, message_ids.filter(isTextStorable)],
  )
  return rows.map(({ id }) => id)
}
