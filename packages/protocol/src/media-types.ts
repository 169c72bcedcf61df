/** The content types that are accepted for a JSON body (RFC 8259; RFC 6839, 3.1), by the use of the body. */

const JSON_TYPE = /^application\/(?:[\w!#$&^.-]+\+)?json$/

/** The accepted types, and the rule in the refusal of other types. */
export interface AcceptedTypes {
  readonly accepts: RegExp
  readonly rule: string
  /** Also accepted if the request does not come from a web page. */
  readonly alsoByPrograms: RegExp | null
}

export const ACCEPTED_TYPES = {
  /** Calls of our own APIs. */
  call: { accepts: /^application\/json$/, rule: 'must be application/json', alsoByPrograms: null },
  /** Requests of the protocol. */
  request: { accepts: JSON_TYPE, rule: 'must be application/json or application/*+json', alsoByPrograms: null },
  /**
   * Callbacks. Many senders send the default type of their HTTP library, which is text, or no type. A web page can send
   * these types to any address without a preflight (Fetch Standard, CORS-safelisted request-header), so they are
   * refused from pages: a receiver that requires no signature would accept a forged callback.
   */
  callback: {
    accepts: JSON_TYPE,
    rule: 'must be application/json, application/*+json or text/*',
    alsoByPrograms: /^(?:text\/[\w!#$&^.+-]+)?$/,
  },
} as const satisfies Readonly<Record<string, AcceptedTypes>>

/** The rule for a type that is accepted only without `Origin`. */
const OF_A_PAGE =
  'must be application/json or application/*+json, because the request has the header Origin, as those of web pages do'

/** The media type of a body, in lower case and without parameters; empty when none is named. */
export function mediaType(contentType: string | null | undefined): string {
  return (contentType ?? '').split(';', 1).join('').trim().toLowerCase()
}

/**
 * The rule that the headers of a JSON body break, such as `Content-Type: charset must be utf-8`; null: none.
 * @param header returns the value of a header by its name in lower case; browsers add `origin` for a web page
 */
export function bodyTypeProblem(
  { accepts, rule, alsoByPrograms }: AcceptedTypes,
  header: (name: string) => string | null | undefined,
): string | null {
  const contentType = header('content-type')
  const type = mediaType(contentType)
  const byProgram = alsoByPrograms !== null && (header('origin') ?? null) === null
  if (!accepts.test(type) && !(byProgram && alsoByPrograms.test(type))) {
    return `Content-Type: ${alsoByPrograms?.test(type) ? OF_A_PAGE : rule}`
  }
  const [, ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    return 'Content-Type: charset must be utf-8'
  }
  return encodingProblem(header('content-encoding'))
}

/** A compressed body is refused: its length in clear is not known beforehand. */
export function encodingProblem(contentEncoding: string | null | undefined): string | null {
  const isPlain = (contentEncoding?.toLowerCase() ?? 'identity') === 'identity'
  return isPlain ? null : 'Content-Encoding: a compressed body is not accepted'
}
