/** Numbers of what waits, failed or ends soon. Stores count them for metrics and for the operators' overview. */
import type { BreakerState } from './breaker.ts'

/** The deliveries and notifications of one participant. */
export interface DeliveryHealth {
  readonly sender_id: string
  readonly pending: number
  /** The age of the oldest pending delivery in seconds; 0 when none is pending. */
  readonly oldest: number
  /** The number of deliveries that were given up within the last day. */
  readonly dead: number
  /** The worst state of the circuit breakers of the participant's destinations. */
  readonly breaker: BreakerState
  /** The number of destinations whose circuit breaker is open or probing. */
  readonly breakers_open: number
  /** The number of notifications that wait in mailboxes, due now or later. */
  readonly notifications_waiting: number
  readonly mailboxes_closed: number
}

/** The state of the event outbox: the table into which the registry office's programs write events that we publish. */
export interface OutboxHealth {
  readonly waiting: number
  /** The number of rows of the event outbox that could not be published. */
  readonly failed: number
  /** The age in seconds of the oldest outbox row that waits to be published; 0 when none waits. */
  readonly oldest: number
}

/** The number and age of accepted requests, or chunks of them, that are due and that no node has claimed. */
export interface ExchangeHealth {
  readonly waiting: number
  /** Seconds since the oldest waiting request became due; 0 when none waits. */
  readonly oldest: number
}

/** How well a copy of a registry's source follows the source. */
export interface MirrorHealth {
  readonly namespace: string
  /**
   * Seconds by which the copy may be older than the source; null while the first copy is not complete. When changes were lost,
   * the number grows until a comparison of all rows has ended. Changes that the feed cannot find, such as deleted rows when it
   * polls, do not make the number grow.
   */
  readonly lag: number | null
  /** The number of changed rows that were found in the source and are not copied yet. */
  readonly behind: number
  /** The number of source rows whose newest state cannot become a record. A record of an earlier state stays. */
  readonly rejects: number
  /** Why the copy cannot follow the source now; null when it can. */
  readonly failure: string | null
}

/** A participant's grant in a registry, or its key for a use (`sig` or `enc`), that ends soon with none to follow. */
export interface GrantOrKeyExpiry {
  readonly what: 'grant' | 'key'
  /** The sender_id of the participant. */
  readonly sender_id: string
  /** For a grant, the namespace of its registry; for a key, its use. */
  readonly of: string
  /** The time at which the grant or key ends, in seconds since 1970. */
  readonly ends: number
}
