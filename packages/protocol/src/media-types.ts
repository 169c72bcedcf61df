/** The content types that are accepted for a JSON body (RFC 8259; RFC 6839, 3.1), for each use of a body. */

const JSON_TYPE_PATTERN = /^application\/(?:[\w!#$&^.-]+\+)?json$/

/** The content types that are accepted for one use of a body, and the rule for the refusal of others. */
export interface AcceptedTypes {
  readonly accepts: RegExp
  readonly rule: string
  /**
   * Matches further types that are accepted when the request has no header `Origin`, so no web page sent it; null when there are
   * no further types.
   */
  readonly alsoByPrograms: RegExp | null
}

export const ACCEPTED_TYPES = {
  /** The content types for calls of our own APIs. */
  call: { accepts: /^application\/json$/, rule: 'must be application/json', alsoByPrograms: null },
  /** The content types for requests of the protocol. */
  request: { accepts: JSON_TYPE_PATTERN, rule: 'must be application/json or application/*+json', alsoByPrograms: null },
  /**
   * For callbacks. Many senders keep the default of their HTTP library, which is a text type or no Content-Type. Both are
   * accepted from programs, but refused when the request has the header `Origin`: web pages can send such requests to any address
   * without a preflight request (Fetch Standard, CORS-safelisted request-header), and a receiver that needs no signature would
   * accept a forged callback.
   */
  callback: {
    accepts: JSON_TYPE_PATTERN,
    rule: 'must be application/json, application/*+json or text/*',
    alsoByPrograms: /^(?:text\/[\w!#$&^.+-]+)?$/,
  },
} as const satisfies Readonly<Record<string, AcceptedTypes>>

/** The rule for a request with the header `Origin`, which browsers add to requests of web pages. */
const WEB_PAGE_CONTENT_TYPE_RULE =
  'must be application/json or application/*+json, because the request has the header Origin, as those of web pages do'

/** The media type in a Content-Type, in lower case and without parameters; empty when there is none. */
export function mediaType(contentType: string | null | undefined): string {
  return (contentType ?? '').split(';', 1).join('').trim().toLowerCase()
}

/**
 * The rule that the headers of a JSON body break, such as `Content-Type: charset must be utf-8`; null when there is none.
 * @param header returns the value of a header by its name in lower case; web pages send `origin`
 */
export function bodyTypeProblem(
  { accepts, rule, alsoByPrograms }: AcceptedTypes,
  header: (name: string) => string | null | undefined,
): string | null {
  const contentType = header('content-type')
  const type = mediaType(contentType)
  const byProgram = alsoByPrograms !== null && (header('origin') ?? null) === null
  if (!accepts.test(type) && !(byProgram && alsoByPrograms.test(type))) {
    return `Content-Type: ${alsoByPrograms?.test(type) ? WEB_PAGE_CONTENT_TYPE_RULE : rule}`
  }
  const [, ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    return 'Content-Type: charset must be utf-8'
  }
  return encodingProblem(header('content-encoding'))
}

/** The rule that a compressed body breaks, because its real length is not known; null when it is not compressed. */
export function encodingProblem(contentEncoding: string | null | undefined): string | null {
  const isPlain = (contentEncoding?.toLowerCase() ?? 'identity') === 'identity'
  return isPlain ? null : 'Content-Encoding: a compressed body is not accepted'
}
