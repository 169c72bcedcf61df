/**
 * The header `traceparent` (W3C Trace Context). We record no spans: the traceparent of a request is logged, and sent with the
 * callbacks that answer it, so that the asker finds both in one trace.
 */
import { newUuid } from './digests.ts'

/** Version, trace-id, parent-id and flags, in lower case. Version ff and ids of zeros alone are not valid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/

/** Characters of version 00, and the part of a later version that every reader understands. */
const LENGTH = 55
/** Of a later version, which may have more members. */
const MOST = 255

/** The header as we log it and pass it on: of a later version its first four members; null where it is not valid. */
export function readTraceparent(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== 'string' || header.length > MOST || !TRACEPARENT.test(header)) return null
  if (header.startsWith('00-')) return header.length === LENGTH ? header : null
  // As version 00, which is what we write.
  return `00-${header.slice(3, LENGTH)}`
}

/**
 * The canonical JSON of a header and a message, with the traceparent beside them: its name comes after theirs. So it is
 * encrypted at rest, and forgotten with them; what is signed and what is remembered do not have it.
 */
export const withTraceparent = (text: string, traceparent: string | null): string =>
  traceparent === null ? text : `${text.slice(0, -1)},"traceparent":"${traceparent}"}`

/** A trace of our own, for an exchange or a delivery: no span is recorded, so it is not marked as sampled. */
export function ownTraceparent(uuid: string): string {
  const span = newUuid().replaceAll('-', '').slice(-16)
  return `00-${uuid.replaceAll('-', '').toLowerCase()}-${span}-00`
}
