/** One accepted request while it is worked on, known by its correlation_id. */

import { type IncomingHeader, type Operation, RequestFault } from '@rollcall/protocol'
import type { Grant } from './grant.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

export interface Exchange {
  /** Assigned by us, unique, ties all messages of the exchange together (spec 7, D12: a UUID). */
  readonly correlation_id: string
  readonly operation: Operation
  readonly registry: Registry
  readonly participant: Participant
  /** What the participant may do in the registry, when the request is worked on. */
  readonly grant: Grant
  readonly header: IncomingHeader
  /** Whether the message came encrypted: its answer then leaves encrypted, or not at all. */
  readonly encrypted: boolean
  readonly received_at: Date
  /** As `readTraceparent` read it; null: the request had none. */
  readonly traceparent: string | null
  /** Whether its peer has gone before the answer; never where the answer is sent later. */
  readonly isGone: () => boolean
}

/**
 * Asked before each piece of work that may take long: nobody would read what comes of it.
 * @throws RequestFault err.request.bad, which nobody reads either
 */
export function checkPeer({ isGone }: Pick<Exchange, 'isGone'>): void {
  if (isGone()) {
    throw new RequestFault('err.request.bad', 'the connection ended before the request was answered')
  }
}

/** A message whose schema was checked: every operation's has a transaction_id. */
export interface Message {
  readonly transaction_id: string
  readonly [member: string]: unknown
}

/**
 * The context to which the request of an accepted exchange is bound, encrypted at rest (`keys/bodies.ts`). @param id of
 * its row
 */
export const requestContext = (id: string): string => `exchange ${id} request`

export type ModeName = 'sync' | 'async'
