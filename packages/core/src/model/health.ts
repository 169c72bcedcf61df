/** The numbers of what waits, failed or ends soon. The stores count them for metrics and the overview of operators. */
import type { BreakerState } from './breaker.ts'

/** The deliveries, notifications and destinations of one participant. */
export interface DeliveryHealth {
  readonly sender_id: string
  readonly pending: number
  /** Seconds that the oldest pending delivery has waited. */
  readonly oldest: number
  /** Deliveries that were given up within the last day. */
  readonly dead: number
  /** The worst state of the circuit breakers of all its destinations. */
  readonly breaker: BreakerState
  /** Destinations whose breaker is open, or being probed. */
  readonly breakers_open: number
  /** Notifications that wait in its mailboxes: for their time, or for earlier ones. */
  readonly notifications_waiting: number
  readonly mailboxes_closed: number
}

export interface OutboxHealth {
  readonly waiting: number
  /** Rows that could not be published. */
  readonly failed: number
  /** Seconds that the oldest waiting row has waited; 0 when none waits. */
  readonly oldest: number
}

/** Accepted requests that are due and that no node has claimed. */
export interface WaitingExchanges {
  readonly waiting: number
  /** Seconds since the oldest of them is due; 0 when there is none. */
  readonly oldest: number
}

/** How a copy of a registry's source follows it. */
export interface MirrorHealth {
  readonly namespace: string
  /** Seconds for which changes of the source may be missing; null: it was not read as a whole yet. */
  readonly lag: number | null
  /** Rows that are known to have changed and are not written yet. */
  readonly behind: number
  /** Rows of the source that cannot become records, or whose present state cannot. */
  readonly rejects: number
  /** Why it cannot be followed now; null: it can. */
  readonly failure: string | null
}

/** A grant or a participant key that ends soon without a successor. */
export interface End {
  readonly what: 'grant' | 'key'
  /** The sender_id of the participant. */
  readonly sender_id: string
  /** The namespace of the grant's registry, or the use of the key. */
  readonly of: string
  /** Unix time in seconds. */
  readonly ends: number
}
