/** The callbacks of a Receiver, as its handlers get them. */
import type {
  CallbackHeader,
  NotifyEventRequest,
  RecordsByKind,
  RequestHeader,
  SearchResponse,
  SubscribeResponse,
  TxnStatusResponse,
  UnSubscribeResponse,
} from '@rollcall/protocol'

/** The message of each row of CALLBACKS. A test compares the names. */
export interface CallbackMessages {
  'on-search': SearchResponse
  'on-subscribe': SubscribeResponse
  'on-unsubscribe': UnSubscribeResponse
  'txn-on-status': TxnStatusResponse
  notify: NotifyEventRequest
}

export type CallbackName = keyof CallbackMessages

/** The name of a callback that answers a request. */
export type ReplyName = Exclude<CallbackName, 'notify'>

/** The header of a callback. It has a status; on-subscribe and on-unsubscribe may leave it out (N1, D7). */
export type ReceivedHeader = Partial<CallbackHeader> & Pick<RequestHeader, 'message_id' | 'message_ts' | 'action' | 'sender_id'>

/** A callback that was verified, decrypted and checked. */
export interface Received<Name extends CallbackName = CallbackName> {
  readonly name: Name
  readonly header: ReceivedHeader
  readonly message: CallbackMessages[Name]
  /** True when a signature was verified. False is possible only when the peer's policy allows it. */
  readonly signed: boolean
  readonly encrypted: boolean
  /** The places of times without a zone, which were read as UTC, such as `message.search_response[0].timestamp`. */
  readonly assumed_utc?: readonly string[]
  /** In a notification: the kind of the registry, if the receiver knows it. */
  readonly kind?: keyof RecordsByKind
  /** In a notification: the reference_ids of items with an older version of a record than the receiver has handled already. */
  readonly superseded?: readonly string[]
}

/** A callback that answers a request. `name` decides the type of its message. */
export type ReplyCallback = { [Name in ReplyName]: Received<Name> }[ReplyName]

/** A callback that rejects a whole request. Its header has status rjct, and it has no message. */
export interface Rejected {
  readonly name: CallbackName
  readonly header: ReceivedHeader
  readonly signed: boolean
  readonly assumed_utc?: readonly string[]
}

/** The function of an application that handles one callback. */
export type Handler<Name extends CallbackName> = (callback: Received<Name>) => unknown

/**
 * The handlers of callbacks. The peer gets an ACK when the handler's promise resolves. When the promise rejects with a
 * RequestFault, the peer gets this fault. When it rejects with another error, the peer gets HTTP status 500 and should send the
 * message again.
 */
export type Handlers = { readonly [Name in CallbackName]?: Handler<Name> } & {
  readonly rejected?: (callback: Rejected) => unknown
}

/** How long to wait for a callback. */
export interface AwaitOptions {
  /** The longest time to wait in milliseconds; 60 000 by default. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}
