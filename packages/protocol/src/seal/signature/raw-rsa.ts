/** Base64 of an RSA signature over the text of the header directly followed by that of the message (1.4 D). */
import { fromBase64, toBase64 } from './base64.ts'
import type { CanonicalParts } from './canonical-forms.ts'
import { type Layout, utf8 } from './layout.ts'
import { invalid } from './problem.ts'

/** The header is an object, so where it ends is never in doubt. */
const content = async ({ header, message }: CanonicalParts) => utf8(`${header}${message}`)

export const rawRsa: Layout = {
  algorithms: ['RS256'],
  expires: false,
  digest: false,

  read(text, { profile: { canonical_form } }) {
    const value = fromBase64(text)
    if (value === null || value.length === 0) throw invalid('the signature must be canonical base64')
    return {
      sender_id: null,
      kid: null,
      algorithm: 'RS256',
      created: null,
      expires: null,
      canonical_form,
      value,
      content,
    }
  },

  write: async (parts, _claims, signed) => toBase64(await signed(await content(parts))),
}
