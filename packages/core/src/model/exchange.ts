/** One accepted request while it is answered, identified by its correlation_id. */

import { type IncomingHeader, type Operation, RequestFault } from '@rollcall/protocol'
import type { Grant } from './grant.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

export interface Exchange {
  /** We assign it; it is unique, and all messages of the exchange have it (spec 7, D12: a UUID). */
  readonly correlation_id: string
  readonly operation: Operation
  readonly registry: Registry
  readonly participant: Participant
  /** The grant in force when the request is answered. */
  readonly grant: Grant
  readonly header: IncomingHeader
  /** Whether the request was encrypted: then its answer is encrypted, or is not sent. */
  readonly encrypted: boolean
  readonly received_at: Date
  /** The result of `readTraceparent`; null: the request had none. */
  readonly traceparent: string | null
  /** Whether the peer has closed the connection before the answer; always false where the answer is sent later. */
  readonly isGone: () => boolean
}

/**
 * Called before each piece of work that may take long: the answer would not be read.
 * @throws RequestFault err.request.bad
 */
export function checkPeer({ isGone }: Pick<Exchange, 'isGone'>): void {
  if (isGone()) {
    throw new RequestFault('err.request.bad', 'the connection ended before the request was answered')
  }
}

/** A message whose schema was checked. Messages of every operation have a transaction_id. */
export interface Message {
  readonly transaction_id: string
  readonly [member: string]: unknown
}

/**
 * The context to which the stored, encrypted request of an accepted exchange is bound (`keys/bodies.ts`).
 * @param id the id of its row
 */
export const requestEncryptionContext = (id: string): string => `exchange ${id} request`

export type ModeName = 'sync' | 'async'
