/** An exchange: one accepted request while it is answered. Its correlation_id identifies it. */

import { type IncomingHeader, type Operation, RequestFault } from '@rollcall/protocol'
import type { Grant } from './grant.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

export interface Exchange {
  /** A UUID that we assign. All messages of the exchange have it (spec 7, D12). */
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
 * Called before each piece of work that may take long: stops the work when nobody waits for the answer.
 * @throws RequestFault err.request.bad
 */
export function checkPeer({ isGone }: Pick<Exchange, 'isGone'>): void {
  if (isGone()) {
    throw new RequestFault('err.request.bad', 'the connection ended before the request was answered')
  }
}

/** A message that its schema has accepted. The messages of every operation have a transaction_id. */
export interface Message {
  readonly transaction_id: string
  readonly [member: string]: unknown
}

/** The context to which the encrypted request of an exchange is bound (`keys/bodies.ts`). @param id its row's id */
export const requestEncryptionContext = (id: string): string => `exchange ${id} request`

export type ModeName = 'sync' | 'async'
