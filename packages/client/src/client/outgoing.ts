/** The forms in which headers of requests can be written, with a function for each form. */
import { RequestHeader } from '@rollcall/protocol'

type Header = { readonly message_ts: string; readonly [member: string]: unknown }

/** A header in which every member is null: `reserialised` writes members without a value as null. */
const NULL_HEADER_MEMBERS = Object.fromEntries(Object.keys(RequestHeader.properties).map((name) => [name, null]))

/** The functions that write the header of a request, by the name of the form. */
export const OUTGOING = {
  /** The usual form: members that have no value are left out of the header. */
  usual: (header: Header): Header => header,
  /**
   * For a registry that parses the header, writes it again, and verifies the signature of its own text. Such a registry writes
   * null for a missing member, and six digits for a fraction of a second. A header in this form has null for missing members and
   * no fraction, so the registry's text is the same as ours.
   */
  reserialised: (header: Header): Header => ({
    ...NULL_HEADER_MEMBERS,
    ...header,
    message_ts: header.message_ts.replace(/\.\d+(?=Z$)/, ''),
  }),
} as const

/** The name of a form of the header. */
export type Outgoing = keyof typeof OUTGOING
