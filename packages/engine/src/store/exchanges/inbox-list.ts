/** Lists the inbox for an operator. Bodies stay encrypted. */

import { messageIdKey } from '@rollcall/core/model/exchange'
import type { Database } from '@rollcall/database/database'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

/** The members of a callback that are shown without decrypting it. */
export interface InboxEntry {
  /** The sender_id of the sender. */
  readonly participant: string
  readonly message_id: string
  readonly callback: string
  /** The namespace of the receiving registry; null when it was removed. */
  readonly registry: string | null
  readonly correlation_id: string | null
  readonly transaction_id: string | null
  readonly status: string | null
  readonly state: 'stored' | 'quarantined'
  /** The length of the encrypted body, in bytes. */
  readonly bytes: number
  readonly received_at: Date
}

/** Selects the callbacks to list. A missing member excludes none. */
export interface InboxFilter {
  /** Only callbacks of this sender_id. */
  readonly participant?: string
  readonly callback?: string
  readonly state?: InboxEntry['state']
  readonly since?: Date
  /** Only callbacks received before this time. */
  readonly until?: Date
  /** The most callbacks; the newest ones are returned. */
  readonly limit: number
}

/** Lists callbacks, the newest first. */
export async function listInbox(db: Database, filter: InboxFilter): Promise<readonly InboxEntry[]> {
  const { participant, callback, state, since, until, limit } = filter
  const { rows } = await db.pool.query<InboxEntry>(
    `select ${INBOX_COLUMNS} from ${INBOX_PARTICIPANT_REGISTRY_SQL}
      where ($1::text is null or participant.sender_id = $1) and ($2::text is null or callback = $2)
        and ($3::text is null or state = $3) and ($4::timestamptz is null or received_at >= $4)
        and ($5::timestamptz is null or received_at < $5)
      order by received_at desc, message_id limit $6`,
    [participant ?? null, callback ?? null, state ?? null, since ?? null, until ?? null, limit],
  )
  return rows
}

/** A callback with its encrypted body, and the ids for decrypting it. */
export interface InboxEntryWithBody extends InboxEntry {
  readonly body: Buffer
  /** The `Participant.id` of the sender, for `inboxBodyBinding`; `participant` is its sender_id. */
  readonly owner: number
}

/**
 * Finds the callbacks with this message_id: one for each participant that has used it.
 * @param participant only the callback of this sender_id
 */
export async function findInInbox(
  db: Database,
  message_id: string,
  participant?: string,
): Promise<readonly InboxEntryWithBody[]> {
  const { rows } = await db.pool.query<InboxEntryWithBody>(
    `select ${INBOX_COLUMNS}, body, inbox_message.participant as owner from ${INBOX_PARTICIPANT_REGISTRY_SQL}
      where message_id = $1 and ($2::text is null or participant.sender_id = $2) order by participant.sender_id`,
    [messageIdKey(message_id), participant ?? null],
  )
  return rows
}

const INBOX_COLUMNS = `participant.sender_id as participant, message_id, callback, registry.namespace as registry, correlation_id,
  transaction_id, inbox_message.status, state, octet_length(body) as bytes, received_at`
/** SQL for a `from` clause: the callbacks of the inbox, with the names of their participant and registry. */
const INBOX_PARTICIPANT_REGISTRY_SQL = `inbox_message join ${PARTICIPANTS_SQL} as participant on participant.id = inbox_message.participant
  left join ${REGISTRIES_SQL} as registry on registry.id = inbox_message.registry`
