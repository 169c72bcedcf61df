/** The inbox stores received callbacks, by participant and message_id. */

import { messageIdKey } from '@rollcall/core/model/exchange'
import type { Database } from '@rollcall/database/database'
import { createOneRowPerKeyStore } from '@rollcall/database/group-commit'
import { countMessagesSql, INBOX_DAY } from '@rollcall/participants/store/day-counts'

/** A checked callback to be stored. */
export interface NewInboxMessage {
  /** The `Participant.id` of the sender. */
  readonly participant: number
  /** The message_id of the header, of any length. */
  readonly message_id: string
  /** The 32 bytes of `exchangeFingerprint`. */
  readonly fingerprint: Buffer
  /** The name of the callback, as in `CALLBACKS` of @rollcall/protocol. */
  readonly callback: string
  /** The `Registry.id` of the receiving registry. */
  readonly registry: number
  /** The correlation_id of our ack: that of the callback, or a new one when the callback has none of 1 to 99 characters. */
  readonly correlation_id: string
  readonly transaction_id: string | null
  readonly status: string | null
  readonly state: 'stored' | 'quarantined'
  /** Header, message, and the places of timestamps without a zone (`assumed_utc`), if any; encrypted for `inboxBodyBinding`. */
  readonly body: Buffer
}

/** The result of `persist`: whether the callback was stored before. */
export interface KnownOrNewCallback {
  /** The correlation_id of the given callback when `new`; otherwise that of the stored one. */
  readonly correlation_id: string
  /** `same`: this callback was stored before. `different`: another one with this message_id was. */
  readonly known: 'new' | 'same' | 'different'
}

/** Stores callbacks of other systems in the database. */
export interface Inbox {
  /**
   * Stores a callback once: of equal ones at the same time, at most one is `new`. The row is on disk when the promise resolves.
   * Rejects like `ReceivedMessageStore.remember`; then the callback must not be acknowledged.
   */
  persist(message: NewInboxMessage): Promise<KnownOrNewCallback>
  /** Compares a callback with the stored one of its participant and message_id; null when none is stored. Stores nothing. */
  known(message: Pick<NewInboxMessage, 'participant' | 'message_id' | 'fingerprint'>): Promise<KnownOrNewCallback | null>
}

/** The columns of a stored callback with which a received one is compared. */
interface StoredCallback {
  readonly fingerprint: Buffer
  readonly correlation_id: string
}

/** The binding of a stored callback: its ciphertext can be decrypted only as that of its own row (`keys/bodies.ts`). */
export const inboxBodyBinding = ({ participant, message_id }: InboxKey): string =>
  `inbox ${inboxKeyText({ participant, message_id })}`

/**
 * Creates the inbox. @param options.waiting the most callbacks that wait on this node until a statement stores them; small and
 * large callbacks are counted apart. Beyond the limit `persist` rejects with StoreBusy.
 */
export function createInbox({ pool }: Pick<Database, 'pool'>, options: { waiting: number }): Inbox {
  const find = async (messages: readonly InboxKey[]): Promise<ReadonlyMap<string, StoredCallback>> => {
    const { rows } = await pool.query<InboxKey & StoredCallback>({
      name: 'find inbox messages',
      text: `select participant, message_id, fingerprint, correlation_id
        from unnest($1::integer[], $2::text[]) as asked (participant, message_id)
        join inbox_message using (participant, message_id)`,
      values: inboxKeyColumnValues(messages),
    })
    return new Map(rows.map((row) => [inboxKeyText(row), row]))
  }
  const memory = createOneRowPerKeyStore<NewInboxMessage, StoredCallback>(
    {
      key: inboxKeyText,
      stored: ({ fingerprint, correlation_id }) => ({ fingerprint, correlation_id }),
      bytes: ({ body }) => body.length,
      find,
      async insert(messages) {
        const { rows } = await pool.query<InboxKey>({ ...PERSIST_CALLBACKS, values: inboxColumnValues(messages) })
        return rows.map(inboxKeyText)
      },
    },
    options,
  )
  return {
    async persist(message) {
      const { first, stored } = await memory.remember(message)
      return first ? { correlation_id: message.correlation_id, known: 'new' } : compareWithStored(message, stored)
    },
    async known(message) {
      const stored = (await find([message])).get(inboxKeyText(message))
      return stored === undefined ? null : compareWithStored(message, stored)
    },
  }
}

function compareWithStored({ fingerprint }: Pick<NewInboxMessage, 'fingerprint'>, stored: StoredCallback): KnownOrNewCallback {
  const { correlation_id } = stored
  return { correlation_id, known: stored.fingerprint.equals(fingerprint) ? 'same' : 'different' }
}

/** Stores and counts callbacks in one statement. */
const PERSIST_CALLBACKS = {
  name: 'persist inbox messages',
  text: `with added as (
      insert into inbox_message (participant, message_id, fingerprint, callback, registry, correlation_id,
        transaction_id, status, state, body)
      select * from unnest($1::integer[], $2::text[], $3::bytea[], $4::text[], $5::integer[], $6::text[],
        $7::text[], $8::text[], $9::text[], $10::bytea[])
      on conflict do nothing
      returning participant, message_id, octet_length(body) as bytes
    ),
    counted as (${countMessagesSql(INBOX_DAY, 'added')})
    select participant, message_id from added`,
}

const inboxColumnValues = (messages: readonly NewInboxMessage[]): unknown[] => [
  ...inboxKeyColumnValues(messages),
  messages.map(({ fingerprint }) => fingerprint),
  messages.map(({ callback }) => callback),
  messages.map(({ registry }) => registry),
  messages.map(({ correlation_id }) => correlation_id),
  messages.map(({ transaction_id }) => transaction_id),
  messages.map(({ status }) => status),
  messages.map(({ state }) => state),
  messages.map(({ body }) => body),
]

type InboxKey = Pick<NewInboxMessage, 'participant' | 'message_id'>

const inboxKeyText = ({ participant, message_id }: InboxKey): string => `${participant} ${messageIdKey(message_id)}`

const inboxKeyColumnValues = (messages: readonly InboxKey[]): [number[], string[]] => [
  messages.map(({ participant }) => participant),
  messages.map(({ message_id }) => messageIdKey(message_id)),
]
