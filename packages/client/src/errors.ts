/** The errors of requests: one class for each way in which a caller can react. */
import type { CallbackHeader } from '@rollcall/protocol'

/**
 * `unreachable`: no connection, a broken one, or a token endpoint that is out of service. `timeout`: no answer in time.
 * `redirected`: the registry redirects, which is not followed. `unreadable`: the answer is not of this protocol.
 * `too_large`: the answer exceeds `max_answer_bytes`. `cors`: the browser hides the answer from this page.
 * `no_callback`: the expected callback did not come in time, or the registry says that none follows.
 */
export type TransportReason = 'unreachable' | 'timeout' | 'redirected' | 'unreadable' | 'too_large' | 'cors' | 'no_callback'

/** There is no readable answer. The registry may have processed the request or not. */
export class TransportError extends Error {
  readonly reason: TransportReason
  /** The number of requests that were sent, with retries, if it is known; otherwise 1. */
  readonly attempts: number
  /** The HTTP status of the answer, if it is known. */
  readonly httpStatus: number | undefined

  constructor(
    reason: TransportReason,
    message: string,
    options: { readonly attempts?: number; readonly httpStatus?: number; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'TransportError'
    this.reason = reason
    this.attempts = options.attempts ?? 1
    this.httpStatus = options.httpStatus
  }
}

/** A code and its text, as peers send them. */
export interface PeerFault {
  readonly code: string
  readonly message: string
}

/**
 * The registry refused the whole request, with an ack ERR, an error body, or only an HTTP status such as 401 (spec
 * "Errors", 1 and 2; N19).
 */
export class AckError extends Error {
  /** The code of the refusal, such as `err.request.bad`. */
  readonly code: string
  readonly httpStatus: number
  /** All errors in the answer; the first one is this error. */
  readonly errors: readonly PeerFault[]
  readonly correlation_id: string | undefined
  /** Milliseconds to wait before the next attempt; undefined when the registry does not say (`Retry-After`). */
  readonly retryAfter: number | undefined

  constructor(
    errors: readonly [PeerFault, ...PeerFault[]],
    httpStatus: number,
    options: { readonly correlation_id?: string | undefined; readonly retryAfter?: number | undefined } = {},
  ) {
    const [{ code, message }] = errors
    super(message === '' ? code : message)
    this.name = 'AckError'
    this.code = code
    this.httpStatus = httpStatus
    this.errors = errors
    this.correlation_id = options.correlation_id
    this.retryAfter = options.retryAfter
  }
}

/** The token endpoint refuses to give a token (RFC 6749, 5.2). */
export class TokenRefused extends Error {
  /** The code of the refusal, such as `invalid_client`. */
  readonly code: string
  readonly httpStatus: number

  constructor(code: string, message: string, httpStatus: number) {
    super(message)
    this.name = 'TokenRefused'
    this.code = code
    this.httpStatus = httpStatus
  }
}

/** The registry read the request and rejected its header. No item was processed (N18). */
export class HeaderRejected extends Error {
  /** The code, such as `rjct.message_id.duplicate`; empty when the registry gives none. */
  readonly code: string
  readonly header: Partial<CallbackHeader>

  constructor(header: Partial<CallbackHeader>) {
    super(header.status_reason_message ?? 'the header of the request was rejected')
    this.name = 'HeaderRejected'
    this.code = header.status_reason_code ?? ''
    this.header = header
  }
}

/** One item was rejected. Other items of the batch may be answered (spec "Errors", 5). */
export class ItemRejected extends Error {
  readonly reference_id: string
  /** The code, such as `rjct.search_criteria.invalid`; empty when the registry gives none. */
  readonly code: string

  constructor(reference_id: string, code: string, message: string) {
    super(message)
    this.name = 'ItemRejected'
    this.reference_id = reference_id
    this.code = code
  }
}

/**
 * The answer is not trusted: its signature or encryption is missing or wrong, or it is not for this request. Also
 * thrown when the request cannot be encrypted and is therefore not sent.
 */
export class UntrustedAnswer extends Error {
  /** The code of the protocol for this fault, such as `err.signature.invalid`. */
  readonly code: string
  readonly reason: string
  /** Options of the client that may not fit the registry, such as `peer.profile`. */
  readonly options: readonly string[]

  constructor(code: string, reason: string, options: readonly string[] = []) {
    super(options.length === 0 ? reason : `${reason}; see ${options.join(', ')} in the options of the client`)
    this.name = 'UntrustedAnswer'
    this.code = code
    this.reason = reason
    this.options = options
  }
}

/** `searchOne` found several records. The client does not guess which one is meant. */
export class SeveralRecords extends Error {
  /** The number of records that the registry found, at least 2. */
  readonly total_count: number

  constructor(total_count: number) {
    super('the search finds more than one record')
    this.name = 'SeveralRecords'
    this.total_count = total_count
  }
}
