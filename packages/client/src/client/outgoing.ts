/** The ways in which headers of requests can be written, one row each. */
import { RequestHeader } from '@rollcall/protocol'

type Header = { readonly message_ts: string; readonly [member: string]: unknown }

/** The members that the header of a request can have, with null: `reserialised` also writes those without a value. */
const ABSENT_MEMBERS = Object.fromEntries(Object.keys(RequestHeader.properties).map((name) => [name, null]))

/** The functions that write the header of a request, by the name of the form. */
export const OUTGOING = {
  /** The usual form: members that have no value are left out of the header. */
  usual: (header: Header): Header => header,
  /**
   * For a registry that parses the header and writes it again before it verifies the signature, with null for each
   * missing member and six digits for a fraction of a second. A header in this form does not change when it is written
   * again.
   */
  reserialised: (header: Header): Header => ({
    ...ABSENT_MEMBERS,
    ...header,
    message_ts: header.message_ts.replace(/\.\d+(?=Z$)/, ''),
  }),
} as const

/** The name of a form of the header. */
export type Outgoing = keyof typeof OUTGOING
