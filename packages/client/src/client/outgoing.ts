/** How headers of requests are written: a row for each way. */
import { RequestHeader } from '@rollcall/protocol'

type Header = { readonly message_ts: string; readonly [member: string]: unknown }

/** Every member that the header of a request can have. */
const ABSENT = Object.fromEntries(Object.keys(RequestHeader.properties).map((name) => [name, null]))

export const OUTGOING = {
  /** Members without a value are left out. */
  usual: (header: Header): Header => header,
  /**
   * For a registry that parses the header and writes it again before it verifies the signature: it writes null for each
   * missing member, and six digits for a fraction of a second. This header stays the same when it does so.
   */
  reserialised: (header: Header): Header => ({
    ...ABSENT,
    ...header,
    message_ts: header.message_ts.replace(/\.\d+(?=Z$)/, ''),
  }),
} as const

export type Outgoing = keyof typeof OUTGOING
