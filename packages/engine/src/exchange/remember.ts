/** Remembers a message before it is processed, so that a retry is recognised (D27). */

import { hash } from 'node:crypto'
import type { Pseudonyms } from '@rollcall/core/model/audit-entry'
import type { Exchange } from '@rollcall/core/model/exchange'
import { isStorable } from '@rollcall/database/text'
import { canonicalJson, HeaderRejection, type JsonObject } from '@rollcall/protocol'
import type { ExchangeMemory, NewExchange } from '../store/exchanges/exchanges.ts'

export interface Remembering {
  readonly exchanges: ExchangeMemory
}

/** The exchange of a message with the correlation_id of its first; null: another message has its message_id. */
export async function remember(
  { exchanges }: Remembering,
  exchange: Exchange,
  row: NewExchange,
): Promise<Exchange | null> {
  const { known, correlation_id } = await exchanges.remember(row)
  return known === 'different' ? null : { ...exchange, correlation_id }
}

/**
 * @param message the decrypted message, or what else its fingerprint is made of
 * @param path the path of the operation; the same message on another path is another message
 */
export function exchangeRow(
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
    transaction_id: transactionId(message),
  }
}

/**
 * The correlation_id of equal messages, known without a look into the memory: 122 bits of an HMAC of participant and fingerprint,
 * in the form of a random UUID. It cannot be guessed.
 */
export async function correlationIdOf(
  pseudonyms: Pseudonyms,
  { participant, fingerprint }: Pick<NewExchange, 'participant' | 'fingerprint'>,
): Promise<string> {
  // No type of identifiers has such a name with a space.
  const value = `${participant} ${fingerprint.toString('hex')}`
  const [digest = Buffer.alloc(0)] = await pseudonyms([{ type: 'correlation id', value }])
  const hex = Buffer.from(digest).toString('hex')
  const variant = '89ab'[(digest[8] ?? 0) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The parts of the fingerprint of a message. */
interface FingerprintParts {
  /** The header in canonical spelling. */
  readonly header: unknown
  /** The decrypted message: a message that is encrypted twice is the same message. */
  readonly message: unknown
  /** The namespace of the receiving registry. */
  readonly namespace: string
  /** The path of the operation, such as `registry/sync/search`. */
  readonly path: string
}

/**
 * The SHA-256 of a message without its signature, over canonical JSON: the order of members, white space and a new
 * signature do not matter, everything else does (D27). 32 bytes.
 * @throws CanonicalJsonError the message has no canonical JSON
 */
export const exchangeFingerprint = ({ header, message, namespace, path }: FingerprintParts): Buffer =>
  hash('sha256', canonicalJson({ header, message, namespace, path }), 'buffer')

export const duplicateMessageId = (): HeaderRejection =>
  new HeaderRejection('rjct.message_id.duplicate', 'header.message_id: was used before for another message')

/** Characters of a transaction_id. */
const LONGEST_TRANSACTION_ID = 99

/** The form for status questions: the message is not checked yet, and a number is read by its digits (3.1). */
function transactionId({ transaction_id }: JsonObject): string | null {
  if (typeof transaction_id !== 'string' && typeof transaction_id !== 'number') return null
  const text = String(transaction_id)
  return text.length >= 1 && text.length <= LONGEST_TRANSACTION_ID && isStorable(text) ? text : null
}
