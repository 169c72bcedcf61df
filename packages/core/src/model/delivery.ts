/**
 * Deliveries (envelopes that we send) and their attempts, as stored, and the texts that bind their encrypted parts to their rows.
 */

/** A place to which deliveries go: an origin of one participant. Each has a circuit breaker of its own. */
export interface Destination {
  /** `Participant.id` */
  readonly participant: number
  /** The origin of the address, as in `URL.origin`; empty when there is no address. */
  readonly origin: string
}

/** The origin of an address from `findCallbackTarget`, as in `URL.origin`; empty when there is no address. */
export const targetOrigin = (target: string | null): string => (target === null ? undefined : URL.parse(target)?.origin) ?? ''

declare const storedEnvelope: unique symbol

/**
 * A stored reply or envelope of notifications, encrypted and bound to its delivery (`deliveryBodyBinding`): canonical JSON of
 * `{header, message}`, with `traceparent` if there is one. Its records were disclosed when it was made; every attempt sends the
 * same message.
 */
export type StoredEnvelope = Uint8Array & { readonly [storedEnvelope]: true }

/** A new envelope to send to a participant. It is held (attempted only after a replay) if no address is known for it. */
export interface NewDelivery {
  /** A UUID. */
  readonly id: string
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  /** The exchange that the delivery answers; null when it answers none. */
  readonly correlation_id: string | null
  /** The name of the callback, from CALLBACKS. */
  readonly callback: string
  /** The number of the answer's page, from 1; 1 for a notification. */
  readonly page: number
  readonly message_id: string
  /** The address to which the delivery goes; null when none is known: then the delivery is held. */
  readonly target: string | null
  /** True when the message must be sent encrypted. If false, the participant's policy at the attempt decides. */
  readonly encrypted: boolean
  readonly body: StoredEnvelope
  /** The mailbox of a notification; null or undefined for others. A mailbox has at most one pending delivery. */
  readonly mailbox?: number | null
  /**
   * The grant and the protection that applied when the envelope was made; null or undefined when it was made without a grant, and
   * so has no records.
   */
  readonly disclosedUnder?: DisclosingGrant | null
}

/** The grant under which records were disclosed, and the version of the protected persons at that time. */
export interface DisclosingGrant {
  /** `Grant.id` */
  readonly grant: number
  /** `Protection.version` */
  readonly protection: number
}

/** The right of a node to attempt deliveries for some time. */
export interface DeliveryClaim {
  /** A UUID. */
  readonly id: string
  /** Seconds for which no other node may claim the deliveries of this claim. */
  readonly seconds: number
}

/** A delivery to be attempted now. */
export interface ClaimedDelivery extends NewDelivery {
  /** The origin of `target`. */
  readonly origin: string
  /** The number of this attempt, from 1. */
  readonly number: number
  /** The number of attempts that were made before somebody last started the retries again; 0 if nobody did. */
  readonly earlier: number
  /** The address that the request or mailbox named; null: it named none; undefined: not known, or no longer stored. */
  readonly sender_uri: string | null | undefined
  /** The name of the operation that the delivery answers; null or undefined: not known, no longer stored, or it answers none. */
  readonly operation?: string | null
}

/** The new state of a delivery after an attempt. */
export interface DeliveryUpdate {
  readonly state: 'pending' | 'delivered' | 'refused' | 'dead'
  /** Seconds until the next attempt; null when there is none. */
  readonly wait: number | null
  /** The reason why the delivery ended; null while it is pending, and when it was delivered. */
  readonly reason: string | null
}

/** An attempt at a delivery, as stored. */
export interface DeliveryAttempt {
  readonly delivery: string
  /** The number of the attempt, from 1. */
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null
  /** The name of the result, from `delivery/failures.ts`; null when the attempt succeeded. */
  readonly error: string | null
  /** The first bytes of the answer, at most 256 and printable, encrypted for `deliveryAnswerBinding`. */
  readonly answer: Uint8Array | null
}

/** The verdict of an attempt on the health of its destination, for the circuit breaker (`breakers.ts`). */
export interface HealthVerdict extends Destination {
  /** `unknown`: the attempt failed for a reason of our own, which says nothing about the peer. */
  readonly peer: 'up' | 'down' | 'unknown'
  /** True when this was the one attempt that is made while the breaker is probing. */
  readonly probe: boolean
  /** The longest pause that the breaker may make between two probes, in seconds. */
  readonly longest_pause: number
}

/** The binding of the encrypted body of a delivery: the body can be decrypted only for the delivery with this id. */
export const deliveryBodyBinding = (id: string): string => `delivery ${id} body`

/** The binding of the encrypted first bytes of an answer. @param number the number of the attempt, from 1 */
export const deliveryAnswerBinding = (id: string, number: number): string => `delivery ${id} answer ${number}`
