/** The received ciphertexts with their messages: none is accepted from another sender or in another message. */

import { messageKey } from '@rollcall/core/model/message-key'
import type { Database } from '@rollcall/database/database'
import { firstCome } from '@rollcall/database/group-commit'

export interface SealedMessage {
  /** 32 bytes, by the protocol's `ciphertextFingerprint`. */
  readonly fingerprint: Buffer
  /** `Participant.id` */
  readonly participant: number
  /** As in the header, of any length. */
  readonly message_id: string
}

export interface CiphertextMemory {
  /**
   * Remembers a ciphertext. True: nobody sent it before, or this participant did under the same message_id. False: it
   * was copied. It is written before the promise resolves, and rejects like `ExchangeMemory.remember`.
   */
  remember(message: SealedMessage): Promise<boolean>
}

type StoredCiphertext = Pick<SealedMessage, 'participant' | 'message_id'>

/** @param options.waiting ciphertexts that may wait for a statement at a time, on this node */
export function createCiphertextMemory(
  { pool }: Pick<Database, 'pool'>,
  options: { waiting: number },
): CiphertextMemory {
  const memory = firstCome<SealedMessage, StoredCiphertext>(
    {
      key: keyOf,
      stored: ({ participant, message_id }) => ({ participant, message_id: messageKey(message_id) }),
      async insert(messages) {
        const { rows } = await pool.query<Pick<SealedMessage, 'fingerprint'>>({
          name: 'remember ciphertexts',
          text: `insert into sealed_message (fingerprint, participant, message_id)
            select * from unnest($1::bytea[], $2::integer[], $3::text[])
            on conflict do nothing
            returning fingerprint`,
          values: [
            messages.map(({ fingerprint }) => fingerprint),
            messages.map(({ participant }) => participant),
            messages.map(({ message_id }) => messageKey(message_id)),
          ],
        })
        return rows.map(keyOf)
      },
      async find(messages) {
        const { rows } = await pool.query<SealedMessage>({
          name: 'find ciphertexts',
          text: `select fingerprint, participant, message_id from sealed_message
            where fingerprint = any($1::bytea[])`,
          values: [messages.map(({ fingerprint }) => fingerprint)],
        })
        return new Map(rows.map((row) => [keyOf(row), row]))
      },
    },
    options,
  )
  return {
    async remember(message) {
      const { stored } = await memory.remember(message)
      return stored.participant === message.participant && stored.message_id === messageKey(message.message_id)
    },
  }
}

const keyOf = ({ fingerprint }: Pick<SealedMessage, 'fingerprint'>): string => fingerprint.toString('hex')
