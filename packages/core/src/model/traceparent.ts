/**
 * The header `traceparent` (W3C Trace Context). We log the header with a request, and send it with the callbacks that answer the
 * request, so that the peer can connect request and callbacks. We record no spans.
 */
import { randomUuid } from './digests.ts'

/** Version, trace-id, parent-id and flags in lower case. Version ff, and ids of zeros only, are invalid. */
const TRACEPARENT_PATTERN = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/

/** The length of a header of version 00, and of the part of later versions that every reader understands. */
const TRACEPARENT_CHARACTERS = 55
/** The most characters of a header that is read: later versions may have more parts than version 00. */
const MOST_HEADER_CHARACTERS = 255

/** The header as it is logged and sent on, with the first four parts only; null when it is invalid. */
export function readTraceparent(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== 'string' || header.length > MOST_HEADER_CHARACTERS || !TRACEPARENT_PATTERN.test(header)) return null
  if (header.startsWith('00-')) return header.length === TRACEPARENT_CHARACTERS ? header : null
  // The first four parts of a later version are sent on as version 00.
  return `00-${header.slice(3, TRACEPARENT_CHARACTERS)}`
}

/**
 * Adds the traceparent to a canonical JSON text `{header, message}`, as the last member. The traceparent is encrypted and deleted
 * with this text, but neither signed nor part of the request's fingerprint.
 */
export const withTraceparent = (text: string, traceparent: string | null): string =>
  traceparent === null ? text : `${text.slice(0, -1)},"traceparent":"${traceparent}"}`

/**
 * Makes a traceparent for an exchange or delivery that has none; its `uuid` becomes the trace-id. It is marked as not sampled,
 * because we record no spans.
 */
export function makeTraceparent(uuid: string): string {
  const span = randomUuid().replaceAll('-', '').slice(-16)
  return `00-${uuid.replaceAll('-', '').toLowerCase()}-${span}-00`
}
