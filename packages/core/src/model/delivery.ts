/**
 * A delivery (an envelope that we send), its attempts as they are stored, and the contexts to which its encrypted parts
 * are bound.
 */

/** The destination of deliveries. Health, order and circuit breaker are kept for each destination. */
export interface Destination {
  /** `Participant.id` */
  readonly participant: number
  /** The origin of the address, as `URL.origin`; empty when there is no address. */
  readonly origin: string
}

/** @param target an address in the form of the URL standard, from `callbackTarget`; null: there is none */
export const originOf = (target: string | null): string =>
  (target === null ? undefined : URL.parse(target)?.origin) ?? ''

declare const encryptedReply: unique symbol

/**
 * A reply encrypted at rest for `deliveryEncryptionContext`: canonical JSON of `{header, message}`. Its records were disclosed
 * when the reply was made. They are not disclosed again: every attempt sends the same message.
 */
export type EncryptedReply = Uint8Array & { readonly [encryptedReply]: true }

/** An envelope to be sent, or to be held while there is no address. */
export interface NewDelivery {
  /** A UUID. */
  readonly id: string
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  /** The exchange that the delivery answers. */
  readonly correlation_id: string | null
  /** The name of a row of CALLBACKS. */
  readonly callback: string
  /** The page number, from 1. */
  readonly page: number
  readonly message_id: string
  /** Null: there is no address, and the delivery is held. */
  readonly target: string | null
  /** Whether the message leaves encrypted. */
  readonly encrypted: boolean
  readonly body: EncryptedReply
  /**
   * The mailbox of a notification: at most one delivery of a mailbox is pending. Null or undefined for other
   * deliveries.
   */
  readonly mailbox?: number | null
  /** The grant and the protection that disclosed its records; null or undefined: it has no records. */
  readonly made?: DisclosedBy | null
}

/** The grant, and the version of the protected persons, at the time of the disclosure. */
export interface DisclosedBy {
  /** `Grant.id` */
  readonly grant: number
  /** `Protection.version` */
  readonly protection: number
}

/** The right of one node to attempt deliveries, for a while. */
export interface Claim {
  /** A UUID. */
  readonly id: string
  /** The seconds for which no other node may claim them. */
  readonly seconds: number
}

/** A delivery to be attempted now. */
export interface ClaimedDelivery extends NewDelivery {
  /** The origin of the target. */
  readonly origin: string
  /** The number of the attempt, counted from the first attempt of the delivery. */
  readonly number: number
  /** The attempts before the schedule was started anew. */
  readonly earlier: number
  /** The address that the exchange or mailbox asked for; null: it named none; undefined: it is no longer known. */
  readonly sender_uri: string | null | undefined
  /** The name of the operation that it answers; null or undefined: it is no longer known. */
  readonly operation?: string | null
}

/** The changes of a delivery after an attempt. */
export interface DeliveryUpdate {
  readonly state: 'pending' | 'delivered' | 'refused' | 'dead'
  /** Seconds until the next attempt; null unless it is pending. */
  readonly wait: number | null
  /** The reason why it ended; null while it is pending, and when it was delivered. */
  readonly reason: string | null
}

/** One attempt as it is stored. */
export interface Attempt {
  readonly delivery: string
  /** The number of the attempt, from 1. */
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null
  /** The name of a row of `results` (`delivery/failures.ts`); null when the attempt delivered. */
  readonly error: string | null
  /** At most 256 printable bytes of the answer, encrypted at rest for `answerEncryptionContext`. */
  readonly answer: Uint8Array | null
}

/** The result of an attempt for the circuit breaker of the destination (`breakers.ts`). */
export interface Health extends Destination {
  /** `unknown`: the attempt says nothing about the peer, because it failed for a reason of ours. */
  readonly peer: 'up' | 'down' | 'unknown'
  /** Whether this was the one attempt that a probing breaker lets through. */
  readonly probe: boolean
  /** The longest pause, in seconds. */
  readonly longest_pause: number
}

/** The context to which the encrypted body of a delivery is bound (`keys/bodies.ts`). */
export const deliveryEncryptionContext = (id: string): string => `delivery ${id} body`

/** The context to which the stored beginning of an answer is bound. */
export const answerEncryptionContext = (id: string, number: number): string => `delivery ${id} answer ${number}`
