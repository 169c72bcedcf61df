/** Stores with which message a ciphertext was received, so that a copy in another message is recognised. */

import { messageIdKey } from '@rollcall/core/model/exchange'
import type { Database } from '@rollcall/database/database'
import { createOneRowPerKeyStore } from '@rollcall/database/group-commit'

/** A ciphertext, and the id of the message in which it was received. */
export interface ReceivedCiphertext {
  /** The 32 bytes of the protocol's `ciphertextFingerprint`. */
  readonly fingerprint: Buffer
  /** The `Participant.id` of the sender. */
  readonly participant: number
  /** The message_id of the header, of any length. */
  readonly message_id: string
}

/** Remembers in the database in which message each ciphertext came first. */
export interface ReceivedCiphertextStore {
  /**
   * Stores a ciphertext. Resolves to true when it is new, or the same participant sent it under the same message_id;
   * false: it was copied. The row is on disk when it resolves. Rejects like `ReceivedMessageStore.remember`.
   */
  remember(message: ReceivedCiphertext): Promise<boolean>
}

type StoredCiphertext = Pick<ReceivedCiphertext, 'participant' | 'message_id'>

/**
 * Creates the store of received ciphertexts.
 * @param options.waiting the most ciphertexts on this node that wait for a statement
 */
export function createReceivedCiphertextStore(
  { pool }: Pick<Database, 'pool'>,
  options: { waiting: number },
): ReceivedCiphertextStore {
  const memory = createOneRowPerKeyStore<ReceivedCiphertext, StoredCiphertext>(
    {
      key: fingerprintText,
      stored: ({ participant, message_id }) => ({ participant, message_id: messageIdKey(message_id) }),
      async insert(messages) {
        const { rows } = await pool.query<Pick<ReceivedCiphertext, 'fingerprint'>>({
          name: 'remember ciphertexts',
          text: `insert into sealed_message (fingerprint, participant, message_id)
            select * from unnest($1::bytea[], $2::integer[], $3::text[])
            on conflict do nothing
            returning fingerprint`,
          values: [
            messages.map(({ fingerprint }) => fingerprint),
            messages.map(({ participant }) => participant),
            messages.map(({ message_id }) => messageIdKey(message_id)),
          ],
        })
        return rows.map(fingerprintText)
      },
      async find(messages) {
        const { rows } = await pool.query<ReceivedCiphertext>({
          name: 'find ciphertexts',
          text: `select fingerprint, participant, message_id from sealed_message
            where fingerprint = any($1::bytea[])`,
          values: [messages.map(({ fingerprint }) => fingerprint)],
        })
        return new Map(rows.map((row) => [fingerprintText(row), row]))
      },
    },
    options,
  )
  return {
    async remember(message) {
      const { stored } = await memory.remember(message)
      return stored.participant === message.participant && stored.message_id === messageIdKey(message.message_id)
    },
  }
}

const fingerprintText = ({ fingerprint }: Pick<ReceivedCiphertext, 'fingerprint'>): string => fingerprint.toString('hex')
