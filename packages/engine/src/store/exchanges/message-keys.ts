/** Finds messages by one of their ids. Returns their message_ids as the audit log has them: long ones hashed (`messageIdKey`). */

import { messageIdKey } from '@rollcall/core/model/exchange'
import type { Database } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import { DELIVERIES_SQL, ENVELOPE_ITEMS_SQL } from '@rollcall/delivery/store/deliveries/delivery-names'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

/** The most exchanges whose messages one call of `findAuditedMessageIds` finds. If more match, any of them may be left out. */
const MOST_FOUND_EXCHANGES = 1_000

/** The names of the ids by which a message can be found. */
export const MESSAGE_ID_NAMES = ['message_id', 'transaction_id', 'correlation_id', 'reference_id'] as const
export type MessageIdName = (typeof MESSAGE_ID_NAMES)[number]

// Each statement looks up the id under every participant, because the indexes of the tables begin with the participant. This is
// fast, because there are few participants.
const EXCHANGES_BY_ID_SQL: Readonly<Record<MessageIdName, string>> = {
  message_id: `select exchange.correlation_id
      from ${PARTICIPANTS_SQL} as participant join exchange on exchange.participant = participant.id and exchange.message_id = $1
    union select coalesce(correlation_id, id) from ${DELIVERIES_SQL} as delivery where message_id = $1`,
  transaction_id: `select exchange.correlation_id
      from ${PARTICIPANTS_SQL} as participant join exchange on exchange.participant = participant.id and exchange.transaction_id = $1`,
  correlation_id: `select $1::uuid as correlation_id`,
  reference_id: `select reference.correlation_id
      from ${PARTICIPANTS_SQL} as participant cross join ${REGISTRIES_SQL} as registry join exchange_reference as reference
        on reference.participant = participant.id and reference.registry = registry.id and reference.reference_id = $1
    union select delivery from ${ENVELOPE_ITEMS_SQL} as sent where reference_id = $1`,
}

const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Finds the message_ids, as the audit log has them, of messages with this id, of at most `MOST_FOUND_EXCHANGES` exchanges. A
 * message whose exchange and deliveries are deleted can only be found by its message_id.
 */
export async function findAuditedMessageIds(
  { pool }: Pick<Database, 'pool'>,
  name: MessageIdName,
  id: string,
): Promise<readonly string[]> {
  if (!isTextStorable(id) || (name === 'correlation_id' && !UUID_PATTERN.test(id))) return []
  const key = name === 'message_id' ? messageIdKey(id) : id
  const { rows } = await pool.query<{ message_id: string }>(
    `with found as (select correlation_id from (${EXCHANGES_BY_ID_SQL[name]}) as found limit ${MOST_FOUND_EXCHANGES})
      select message_id from found join exchange using (correlation_id)
      union select message_id from found join ${DELIVERIES_SQL} as delivery using (correlation_id)
      union select message_id from found join ${DELIVERIES_SQL} as delivery on delivery.id = found.correlation_id`,
    [key],
  )
  const keys = rows.map(({ message_id }) => messageIdKey(message_id))
  return name === 'message_id' ? [...new Set([key, ...keys])] : keys
}
