/** Remembers a message before anything is done about it, so that a retry is known as one (D27). */

import { hash } from 'node:crypto'
import type { Exchange } from '@rollcall/core/model/exchange'
import { isStorable } from '@rollcall/database/text'
import { canonicalJson, HeaderRejection, type JsonObject } from '@rollcall/protocol'
import type { ExchangeMemory, NewExchange } from '../store/exchanges/exchanges.ts'

export interface Remembering {
  readonly exchanges: ExchangeMemory
}

/**
 * The correlation_id of a synchronous exchange: of the same message sent again, that of the first one. It is answered anew
 * then, under the rights of today.
 * @param message opened, where it was encrypted
 * @param path of the operation; the same message on another path is another message
 * @throws HeaderRejection rjct.message_id.duplicate
 */
export async function remember(
  { exchanges }: Remembering,
  exchange: Exchange,
  message: JsonObject,
  path: string,
): Promise<string> {
  const { known, correlation_id } = await exchanges.remember(exchangeRow(exchange, message, path))
  if (known === 'different') throw duplicate()
  return correlation_id
}

/** @param message what makes it this message and no other */
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

/** The parts that identify a message, and the path on which it arrived. */
interface ReceivedMessage {
  /** In canonical spelling. */
  readonly header: unknown
  /** Opened, where it was encrypted: the same message encrypted twice is the same message. */
  readonly message: unknown
  /** Of the registry it came to. */
  readonly namespace: string
  /** Of the operation, such as `registry/sync/search`. */
  readonly path: string
}

/**
 * The SHA-256 of a message without its signature, over canonical JSON: the order of members, white space and
 * a new signature do not matter, everything else does (D27). 32 bytes.
 * @throws CanonicalJsonError it is no JSON
 */
export const exchangeFingerprint = ({ header, message, namespace, path }: ReceivedMessage): Buffer =>
  hash('sha256', canonicalJson({ header, message, namespace, path }), 'buffer')

export const duplicate = (): HeaderRejection =>
  new HeaderRejection('rjct.message_id.duplicate', 'header.message_id: was used before for another message')

/** Characters of a transaction_id. */
const LONGEST_TRANSACTION_ID = 99

/** The form for status questions: the message is not checked yet, and a number is read by its digits (3.1). */
function transactionId({ transaction_id }: JsonObject): string | null {
  if (typeof transaction_id !== 'string' && typeof transaction_id !== 'number') return null
  const text = String(transaction_id)
  return text.length >= 1 && text.length <= LONGEST_TRANSACTION_ID && isStorable(text) ? text : null
}
