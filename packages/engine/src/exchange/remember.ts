/** Stores which messages were received, before their answer is sent, so that a repeated message is recognised (D27). */

import { sha256 } from '@rollcall/base/shared/sha256'
import type { MakePseudonyms } from '@rollcall/core/model/audit-entry'
import type { Exchange } from '@rollcall/core/model/exchange'
import { isTextStorable } from '@rollcall/database/text'
import { canonicalJson, HeaderRejection, type JsonObject, TransactionId, validator } from '@rollcall/protocol'
import type { NewExchange, ReceivedMessageStore } from '../store/exchanges/exchanges.ts'

/** The dependencies of `rememberExchange`. */
export interface RememberDeps {
  readonly exchanges: ReceivedMessageStore
}

/**
 * Stores that a message was received, unless it is stored already.
 * @returns the exchange under the correlation_id of the first equal message
 * @throws HeaderRejection rjct.message_id.duplicate
 */
export async function rememberExchange({ exchanges }: RememberDeps, exchange: Exchange, row: NewExchange): Promise<Exchange> {
  const { known, correlation_id } = await exchanges.remember(row)
  if (known === 'different') throw duplicateMessageIdRejection()
  return { ...exchange, correlation_id }
}

/**
 * Makes the row of a message.
 * @param message the decrypted message; for an uploaded file of items with the digest and format of the file
 * @param path the path of the operation: the same message at another path is another message
 */
export function makeExchangeRow(
  { correlation_id, participant, registry, operation, header }: Exchange,
  message: JsonObject,
  path: string,
): NewExchange {
  return {
    correlation_id,
    participant: participant.id,
    message_id: header.message_id,
    fingerprint: exchangeFingerprint({ header, message, namespace: registry.namespace, path }),
    registry: registry.id,
    operation: operation.name,
    transaction_id: findStorableTransactionId(message),
  }
}

/**
 * The correlation_id of equal messages, computed without a look at the stored ones: 122 bits of an HMAC of participant
 * and fingerprint, in the form of a random UUID. It cannot be guessed.
 */
export async function correlationIdOf(
  pseudonyms: MakePseudonyms,
  { participant, fingerprint }: Pick<NewExchange, 'participant' | 'fingerprint'>,
): Promise<string> {
  // Pseudonyms of identifiers are made with the same HMAC. No identifier type has a name with a space, so no pseudonym of an
  // identifier is equal to this digest.
  const value = `${participant} ${fingerprint.toString('hex')}`
  const [digest = Buffer.alloc(0)] = await pseudonyms([{ type: 'correlation id', value }])
  const hex = Buffer.from(digest).toString('hex')
  const variant = '89ab'[(digest[8] ?? 0) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The parts from which the fingerprint of a message is made. */
interface FingerprintParts {
  /** The header in canonical spelling. */
  readonly header: unknown
  /** The decrypted message. A message that is encrypted and sent again has another ciphertext, but is the same message. */
  readonly message: unknown
  /** The namespace of the receiving registry. */
  readonly namespace: string
  /** The path of the operation, such as `registry/sync/search`. */
  readonly path: string
}

/**
 * The SHA-256 (32 bytes) of header, message, namespace and path as canonical JSON. The order of members, white space
 * and a new signature do not change it (D27).
 * @throws CanonicalJsonError the message has no canonical JSON
 */
export const exchangeFingerprint = ({ header, message, namespace, path }: FingerprintParts): Buffer =>
  sha256(canonicalJson({ header, message, namespace, path }))

/** Makes the rejection of a message whose message_id another message of the sender has. */
export const duplicateMessageIdRejection = (): HeaderRejection =>
  new HeaderRejection('rjct.message_id.duplicate', 'header.message_id: was used before for another message')

/** Checks the length of a transaction_id as the check of the message does: a character outside the BMP counts once, not twice. */
const transactionIdValidator = validator(TransactionId)

/**
 * The transaction_id by which a status question finds the message; null when there is none that can be stored. The
 * message was not read by its schema yet, so the transaction_id may be a number, which counts as its digits.
 */
function findStorableTransactionId({ transaction_id }: JsonObject): string | null {
  if (typeof transaction_id !== 'string' && typeof transaction_id !== 'number') return null
  const text = String(transaction_id)
  return transactionIdValidator.accepts(text) && isTextStorable(text) ? text : null
}
