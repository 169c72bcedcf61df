/** The inbox as an operator looks at it. Bodies stay encrypted. */
import type { Database } from '../db/database.ts'
import { messageKey } from './exchanges.ts'

/** What is shown of a message without decrypting it. */
export interface InboxEntry {
  /** Its sender's sender_id. */
  readonly participant: string
  readonly message_id: string
  readonly callback: string
  /** The namespace of the registry that it came to; null when that is gone. */
  readonly registry: string | null
  readonly correlation_id: string | null
  readonly transaction_id: string | null
  readonly status: string | null
  readonly state: 'stored' | 'quarantined'
  /** Of the encrypted body. */
  readonly bytes: number
  readonly received_at: Date
}

export interface InboxFilter {
  /** A sender_id. */
  readonly participant?: string
  readonly callback?: string
  readonly state?: InboxEntry['state']
  readonly since?: Date
  /** The first moment that is too late. */
  readonly until?: Date
  /** At most so many, the newest ones. */
  readonly limit: number
}

/** Newest first. */
export async function listInbox(db: Database, filter: InboxFilter): Promise<readonly InboxEntry[]> {
  const { participant, callback, state, since, until, limit } = filter
  let query = entries(db)
  if (participant !== undefined) query = query.where('participant.sender_id', '=', participant)
  if (callback !== undefined) query = query.where('inbox_message.callback', '=', callback)
  if (state !== undefined) query = query.where('inbox_message.state', '=', state)
  if (since !== undefined) query = query.where('inbox_message.received_at', '>=', since)
  if (until !== undefined) query = query.where('inbox_message.received_at', '<', until)
  const rows = await query
    .orderBy('inbox_message.received_at', 'desc')
    .orderBy('inbox_message.message_id')
    .limit(limit)
    .execute()
  return rows
}

/** A message with its encrypted body, and the key that the body is bound to. */
export interface InboxLetter extends InboxEntry {
  readonly body: Buffer
  /** `Participant.id` */
  readonly owner: number
}

/** The messages of this id: one for each participant that has used it. */
export async function findInInbox(
  db: Database,
  message_id: string,
  participant?: string,
): Promise<readonly InboxLetter[]> {
  let query = entries(db)
    .select(['inbox_message.body', 'inbox_message.participant as owner'])
    .where('inbox_message.message_id', '=', messageKey(message_id))
  if (participant !== undefined) query = query.where('participant.sender_id', '=', participant)
  return query.orderBy('participant.sender_id').execute()
}

const entries = ({ kysely }: Database) =>
  kysely
    .selectFrom('inbox_message')
    .innerJoin('participant', 'participant.id', 'inbox_message.participant')
    .leftJoin('registry', 'registry.id', 'inbox_message.registry')
    .select((eb) => [
      'participant.sender_id as participant',
      'inbox_message.message_id',
      'inbox_message.callback',
      'registry.namespace as registry',
      'inbox_message.correlation_id',
      'inbox_message.transaction_id',
      'inbox_message.status',
      'inbox_message.state',
      eb.fn<number>('octet_length', ['inbox_message.body']).as('bytes'),
      'inbox_message.received_at',
    ])
