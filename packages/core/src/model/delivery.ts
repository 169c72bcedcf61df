/** A delivery: an envelope that we send, what is persisted of its attempts, and what its encrypted parts are bound to. */

/** The destination of deliveries: health, order and circuit breaker belong to it. */
export interface Destination {
  /** `Participant.id` */
  readonly participant: number
  /** Of the address, as `URL.origin` says it; empty where there is no address. */
  readonly origin: string
}

/** @param target an address as the URL standard writes it, as `callbackTarget` finds it; null: none */
export const originOf = (target: string | null): string =>
  (target === null ? undefined : URL.parse(target)?.origin) ?? ''

declare const encryptedReply: unique symbol

/**
 * A reply encrypted at rest for `deliveryContext`: canonical JSON of `{header, message}`. Its records were disclosed when
 * it was made, and are not judged again: every attempt sends the same message.
 */
export type EncryptedReply = Uint8Array & { readonly [encryptedReply]: true }

/** An envelope to send, or to hold where there is nowhere to send it. */
export interface NewDelivery {
  /** A UUID. */
  readonly id: string
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  /** Of the exchange that it answers. */
  readonly correlation_id: string | null
  /** The name of a row of CALLBACKS. */
  readonly callback: string
  /** From 1. */
  readonly page: number
  readonly message_id: string
  /** Null: nowhere, it is held. */
  readonly target: string | null
  /** Whether the message leaves encrypted. */
  readonly encrypted: boolean
  readonly body: EncryptedReply
  /** Of a notification: the mailbox, of which one delivery is pending at a time. Null or undefined for all others. */
  readonly mailbox?: number | null
  /** By what its records were disclosed; null or undefined: it has none. */
  readonly made?: DisclosedBy | null
}

/** The grant of the moment, and who was protected then. */
export interface DisclosedBy {
  /** `Grant.id` */
  readonly grant: number
  /** `Protection.version` */
  readonly protection: number
}

/** The right to attempt deliveries, for a while. */
export interface Claim {
  /** A UUID. */
  readonly id: string
  /** For how long nobody else may take them. */
  readonly seconds: number
}

/** A delivery that is to be attempted now. */
export interface ClaimedDelivery extends NewDelivery {
  /** Of its target. */
  readonly origin: string
  /** Of the attempt: how many were begun, with this one. */
  readonly number: number
  /** Attempts before its schedule began anew. */
  readonly earlier: number
  /** The address that its exchange or mailbox asked for; null: the participant's own. Undefined: it is not known any more. */
  readonly sender_uri: string | null | undefined
  /** The name of the operation that it answers; null or undefined: it is not known any more. */
  readonly operation?: string | null
}

/** The changes of a delivery after an attempt. */
export interface DeliveryUpdate {
  readonly state: 'pending' | 'delivered' | 'refused' | 'dead'
  /** Seconds until the next attempt; null unless it is pending. */
  readonly wait: number | null
  /** Why it is at its end; null while it is not, and when it was delivered. */
  readonly reason: string | null
}

/** One attempt as it is persisted. */
export interface Attempt {
  readonly delivery: string
  /** From 1. */
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  /** Of HTTP; null where there was no answer. */
  readonly status: number | null
  /** A class of RESULTS_TMP (`delivery/failures.ts`); null for one that delivered. */
  readonly error: string | null
  /** At most 256 printable bytes of what was answered, encrypted at rest for `answerContext`. */
  readonly answer: Uint8Array | null
}

/** The health of the peer after an attempt, for its breaker (`breakers.ts`). */
export interface Health extends Destination {
  /** `unknown`: nothing, the peer was not reached for a reason of ours. */
  readonly peer: 'up' | 'down' | 'unknown'
  /** Whether the attempt was the one that a breaker lets through. */
  readonly probe: boolean
  /** The longest pause, in seconds. */
  readonly longest_pause: number
}

/** The context to which the encrypted body of a delivery is bound (`keys/bodies.ts`). */
export const deliveryContext = (id: string): string => `delivery ${id} body`

/** The context to which the persisted beginning of an answer is bound. */
export const answerContext = (id: string, number: number): string => `delivery ${id} answer ${number}`
