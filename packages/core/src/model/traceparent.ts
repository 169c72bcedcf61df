/**
 * The header `traceparent` (W3C Trace Context). We record no spans. We log the traceparent of a request, and send it
 * with the callbacks that answer the request, so that the peer finds both in one trace.
 */
import { newUuid } from './digests.ts'

/** Version, trace-id, parent-id and flags, in lower case. Version ff, and ids of zeros alone, are invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/

/** Characters of version 00, and of the part of a later version that every reader understands. */
const LENGTH = 55
/** The longest header of a later version, which may have more members. */
const MOST = 255

/** The header as we log it and pass it on, cut to its first four members; null when it is invalid. */
export function readTraceparent(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== 'string' || header.length > MOST || !TRACEPARENT.test(header)) return null
  if (header.startsWith('00-')) return header.length === LENGTH ? header : null
  // Written as version 00, which is the version we send.
  return `00-${header.slice(3, LENGTH)}`
}

/**
 * Adds the traceparent beside the header and message of a canonical JSON text, in the order of canonical JSON. There it
 * is encrypted at rest and deleted with them; it is neither signed nor part of the fingerprint.
 */
export const withTraceparent = (text: string, traceparent: string | null): string =>
  traceparent === null ? text : `${text.slice(0, -1)},"traceparent":"${traceparent}"}`

/** A trace of our own for an exchange or a delivery. No span is recorded, so it is marked as not sampled. */
export function ownTraceparent(uuid: string): string {
  const span = newUuid().replaceAll('-', '').slice(-16)
  return `00-${uuid.replaceAll('-', '').toLowerCase()}-${span}-00`
}
