/** How the header of a request is written: a row for what some registries need. */
import { RequestHeader } from '@rollcall/protocol'

type Header = { readonly message_ts: string; readonly [member: string]: unknown }

/** Every member that the header of a request can have. */
const ABSENT = Object.fromEntries(Object.keys(RequestHeader.properties).map((name) => [name, null]))

export const OUTGOING = {
  /** Members without a value are left out. */
  usual: (header: Header): Header => header,
  /**
   * For a registry that verifies the signature over a header that it has parsed and written again: it writes null for each
   * member that is missing, and six digits for a fraction of a second. Here is nothing that it would write in another way.
   */
  reserialised: (header: Header): Header => ({
    ...ABSENT,
    ...header,
    message_ts: header.message_ts.replace(/\.\d+(?=Z$)/, ''),
  }),
} as const

export type Outgoing = keyof typeof OUTGOING
