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
   * For a registry that parses the header, writes it again, and verifies the signature over the text that it has written. Such a
   * registry writes null for a missing member, and gives a fraction of a second six digits. In this form, missing members are
   * null and times have no fraction: the registry's text is then equal to the text that we signed.
   */
  reserialised: (header: Header): Header => ({
    ...NULL_HEADER_MEMBERS,
    ...header,
    message_ts: header.message_ts.replace(/\.\d+(?=Z$)/, ''),
  }),
} as const

/** The name of a form in which the header of a request is written. */
export type Outgoing = keyof typeof OUTGOING
