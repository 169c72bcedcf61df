/**
 * The three errors of a request: the whole request is refused (acknowledgement with ERR), its header is rejected, or one item is
 * rejected and the others are answered. The text of an error is sent to the peer: it names a member and a rule, and no value.
 */
import { type AckCode, type HeaderCode, httpStatusOf, type ItemCode } from './codes.ts'

/** The longest `error.message` or `status_reason_message`, in characters (spec "Limits"). */
export const REASON_MAX_LENGTH = 999

/** Cuts a text to the length of a reason. Lone surrogates become U+FFFD, because canonical JSON refuses them. */
export function reasonText(text: string): string {
  // The cut may leave half of a surrogate pair. U+FFFD, which replaces the half, has the same length.
  return text.slice(0, REASON_MAX_LENGTH).toWellFormed()
}

/** Refuses a whole request with an acknowledgement ERR (spec "Errors" 1 and 2, N19). */
export class RequestFault extends Error {
  readonly code: AckCode
  /** The HTTP status of the answer; by default the usual status for the code. */
  readonly httpStatus: number
  /** Whole seconds after which the same request may succeed, for the header Retry-After. */
  readonly retryAfter: number | undefined
  /** The reason for our own log, where the sender is not told the reason; without personal data. */
  readonly reason?: string

  constructor(
    code: AckCode,
    message: string,
    httpStatus: number = httpStatusOf(code),
    { retryAfter }: { retryAfter?: number } = {},
  ) {
    super(reasonText(message))
    this.name = 'RequestFault'
    this.code = code
    this.httpStatus = httpStatus
    this.retryAfter = retryAfter
  }
}

/**
 * Rejects the header. The answer to a synchronous request has a callback header with status `rjct` (N18); an
 * asynchronous request is answered with an acknowledgement ERR (N20).
 */
export class HeaderRejection extends Error {
  readonly code: HeaderCode

  constructor(code: HeaderCode, message: string) {
    super(reasonText(message))
    this.name = 'HeaderRejection'
    this.code = code
  }
}

/** Rejects one item with status `rjct`; the other items of its batch are answered (spec "Errors" 5). */
export class ItemRejection extends Error {
  readonly code: ItemCode

  constructor(code: ItemCode, message: string) {
    super(reasonText(message))
    this.name = 'ItemRejection'
    this.code = code
  }
}
