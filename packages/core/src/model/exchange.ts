/** An exchange: one request whose sender is verified, until it is answered or refused. Its correlation_id identifies it. */

import { type IncomingHeader, type Operation, RequestFault } from '@rollcall/protocol'
import { sha256Hex } from './digests.ts'
import type { Grant } from './grant.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

export interface Exchange {
  /** A UUID that we assign. The answers to the request have it (spec 7, D12). */
  readonly correlation_id: string
  readonly operation: Operation
  readonly registry: Registry
  readonly participant: Participant
  /** The grant that applies when the request is answered. */
  readonly grant: Grant
  readonly header: IncomingHeader
  /** True when the request was encrypted: its answer is then sent encrypted, or not at all. */
  readonly encrypted: boolean
  readonly received_at: Date
  /** The result of `readTraceparent`; null when the request had no valid one. */
  readonly traceparent: string | null
  /** True when the peer has closed the connection before the answer. Always false when the answer is sent later. */
  readonly isGone: () => boolean
}

/**
 * Throws a fault, which ends the work, when nobody waits for the answer any more. Call this before work that may take long.
 * @throws RequestFault err.request.bad
 */
export function checkPeerWaits({ isGone }: Pick<Exchange, 'isGone'>): void {
  if (isGone()) {
    throw new RequestFault('err.request.bad', 'the connection ended before the request was answered')
  }
}

/** A message that its schema has accepted. The messages of every operation have a transaction_id. */
export interface Message {
  readonly transaction_id: string
  readonly [member: string]: unknown
}

/** The binding of the encrypted request of an exchange (`keys/src/bodies.ts`). @param id the id of the exchange's row */
export const requestBodyBinding = (id: string): string => `exchange ${id} request`

/** `sync`: the answer is sent in the same connection. `async`: it is sent later, as callbacks. */
export type ModeName = 'sync' | 'async'

/** The most characters of a message_id that is stored as it is; a longer one is stored as its digest. */
const MAX_UNHASHED_MESSAGE_ID_LENGTH = 255

/** The key of a stored message_id: the message_id; if it is longer than 255 characters, `sha256:` and its digest. */
export function messageIdKey(message_id: string): string {
  return message_id.length <= MAX_UNHASHED_MESSAGE_ID_LENGTH ? message_id : `sha256:${sha256Hex(message_id)}`
}

/** The most characters of a reference_id, which names an item in its batch (N2). */
const MAX_REFERENCE_ID_CHARACTERS = 99

/** The reference_id of an item for the answer, cut to 99 characters; empty when it is no text. */
export function referenceId({ reference_id }: { readonly [member: string]: unknown }): string {
  if (typeof reference_id !== 'string') return ''
  if (reference_id.length <= MAX_REFERENCE_ID_CHARACTERS) return reference_id
  // Counts code points, so that no surrogate pair is cut in half.
  return [...reference_id.slice(0, MAX_REFERENCE_ID_CHARACTERS * 2)].slice(0, MAX_REFERENCE_ID_CHARACTERS).join('')
}
