/**
 * The three errors of a request: the whole request is refused (ack ERR), the header is rejected (callback header
 * `rjct`), or one item is rejected and the others are answered. Their messages go to the sender: they name a member and
 * a rule, never a value.
 */
import { type AckCode, type HeaderCode, httpStatusOf, type ItemCode } from './codes.ts'

/** `error.message` and `status_reason_message` hold at most this many characters (spec "Limits"). */
export const REASON_MAX_LENGTH = 999

/** A text that fits into a reason message: cut at 999 characters, never in the middle of a character. */
export function reasonText(text: string): string {
  // The cut may split a surrogate pair, which canonical JSON refuses; the half becomes U+FFFD, which has the same
  // length.
  return text.slice(0, REASON_MAX_LENGTH).toWellFormed()
}

/** The whole request is refused with an ack ERR (spec "Errors" 1 and 2, N19). */
export class RequestFault extends Error {
  readonly code: AckCode
  /** The HTTP status of the answer; by default that of the code. */
  readonly httpStatus: number
  /** Whole seconds after which the same request may succeed; sent as Retry-After. */
  readonly retryAfter: number | undefined

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

/** The header is rejected: a sync request is answered with a callback header of status `rjct` (N18). */
export class HeaderRejection extends Error {
  readonly code: HeaderCode

  constructor(code: HeaderCode, message: string) {
    super(reasonText(message))
    this.name = 'HeaderRejection'
    this.code = code
  }
}

/** One item is rejected with status `rjct`; the other items of its batch are answered (spec "Errors" 5). */
export class ItemRejection extends Error {
  readonly code: ItemCode

  constructor(code: ItemCode, message: string) {
    super(reasonText(message))
    this.name = 'ItemRejection'
    this.code = code
  }
}
