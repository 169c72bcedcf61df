/** The types of the request and the answer of each operation, by the names in the table of operations. */
import type {
  CallbackHeader,
  DisabledRequest,
  DisabledResponse,
  EnrolledRequest,
  EnrolledResponse,
  EnrollmentUpdatesRequest,
  EnrollmentUpdatesResponse,
  SearchRequest,
  SearchResponse,
  SubscribeRequest,
  SubscribeResponse,
  TxnStatusRequest,
  TxnStatusResponse,
  UnSubscribeRequest,
  UnSubscribeResponse,
} from '@rollcall/protocol'

/** The request and the answer of each row of OPERATIONS. A test compares the names. */
export interface Messages {
  search: { request: SearchRequest; response: SearchResponse }
  subscribe: { request: SubscribeRequest; response: SubscribeResponse }
  unsubscribe: { request: UnSubscribeRequest; response: UnSubscribeResponse }
  'txn-status': { request: TxnStatusRequest; response: TxnStatusResponse }
  'enrolment-updates': { request: EnrollmentUpdatesRequest; response: EnrollmentUpdatesResponse }
  enrolled: { request: EnrolledRequest; response: EnrolledResponse }
  'enrolment-status': { request: EnrolledRequest; response: EnrolledResponse }
  disabled: { request: DisabledRequest; response: DisabledResponse }
  'disability-details': { request: DisabledRequest; response: SearchResponse }
  'disability-support': { request: DisabledRequest; response: SearchResponse }
}

export type OperationName = keyof Messages

/** A request without its transaction_id, which the client adds. */
export type Content<Name extends OperationName> = Omit<Messages[Name]['request'], 'transaction_id'>

/** Options that every request of the client may have. */
export interface RequestOptions {
  /** The id that several requests of one transaction share, also to different systems; a new UUID by default. */
  readonly transaction_id?: string
  /** Aborts the request, its retries and its pauses. */
  readonly signal?: AbortSignal
  /** Members for `header.meta` of the request, in any form. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Options of requests that wait for callbacks. */
export interface CallbackOptions extends RequestOptions {
  /** The longest time to wait for each callback, in milliseconds; 60 000 by default. */
  readonly timeout?: number
  /** Called with the ack, before the first callback is returned. Not called for a NACK. */
  readonly accepted?: (accepted: Accepted) => void
}

/** The checked answer to a request, in the same connection or by callback. */
export interface Answer<Message> {
  readonly header: CallbackHeader
  readonly message: Message
  /** True when a signature was verified. False is possible only when the `peer` option allows it. */
  readonly signed: boolean
  readonly encrypted: boolean
  /** The places of times without a zone, which were read as UTC, such as `message.search_response[0].timestamp`. */
  readonly assumed_utc?: readonly string[]
}

/** The acknowledgement (ACK or NACK) of an asynchronous request (N11). */
export interface Accepted {
  /** `ACK`: a callback with the result follows. `NACK`: no callback follows, although the registry reports no error. */
  readonly ack_status: 'ACK' | 'NACK'
  /** The correlation_id that the callback will have. */
  readonly correlation_id: string
  readonly transaction_id: string
  /** The time in the ack; empty when the registry gives none. */
  readonly timestamp: string
}
