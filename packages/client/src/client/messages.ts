/** The types of what each operation says and is answered, by the names of the operations table. */
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

/** Request and answer of each row of OPERATIONS; a test compares the names. */
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

/** A request without its transaction_id, which the client gives. */
export type Content<Name extends OperationName> = Omit<Messages[Name]['request'], 'transaction_id'>

/** Options of every request. */
export interface RequestOptions {
  /** The same for all systems in one transaction; a new UUID by default. */
  readonly transaction_id?: string
  /** Aborts the request, its retries and its pauses. */
  readonly signal?: AbortSignal
  /** Free-form members of `header.meta`. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Options of requests that wait for callbacks. */
export interface CallbackOptions extends RequestOptions {
  /** Milliseconds for each callback; 60 000 by default. */
  readonly timeout?: number
  /** Told of the ack, before the first callback. */
  readonly accepted?: (accepted: Accepted) => void
}

/** The answer to a synchronous request, or the callback to an asynchronous one: verified, opened and checked. */
export interface Answer<Message> {
  readonly header: CallbackHeader
  readonly message: Message
  /** A signature was verified; false only where the trust in the peer allows it. */
  readonly signed: boolean
  readonly encrypted: boolean
  /** Timestamps without a zone, which were read as UTC, such as `message.search_response[0].timestamp`. */
  readonly assumed_utc?: readonly string[]
}

/** The ack of an asynchronous request (G3, N11). */
export interface Accepted {
  /** `ACK`: the result follows at a callback. `NACK`: taken, and nothing will follow. */
  readonly ack_status: 'ACK' | 'NACK'
  /** The correlation_id of the callback to come. */
  readonly correlation_id: string
  readonly transaction_id: string
  readonly timestamp: string
}
