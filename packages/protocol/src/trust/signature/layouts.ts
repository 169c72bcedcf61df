/** The layouts of signatures, and the rules for a profile. */

import { fromBase64, toBase64, utf8Bytes } from '../base64.ts'
import { ALGORITHMS, type AlgorithmName } from './algorithms.ts'
import { CANONICAL_FORMS, type CanonicalParts } from './canonical-forms.ts'
import { DIGESTS } from './digests.ts'
import { jwsDetached, jwsEmbedded } from './jws.ts'
import type { Layout, LayoutName, SignatureProfile } from './layout.ts'
import { parametersLayout } from './parameters.ts'
import { invalid } from './problem.ts'

/**
 * Makes the bytes that raw RSA signs: the text of the header, directly followed by that of the message. The header is a JSON
 * object, so its end is clear.
 */
const makeRawRsaContent = async ({ header, message }: CanonicalParts) => utf8Bytes(`${header}${message}`)

/** The layout of a signature text that is only an RSA signature in base64 (1.4 D). */
const rawRsaLayout: Layout = {
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
      content: makeRawRsaContent,
    }
  },

  write: async (parts, _claims, signed) => toBase64(await signed(await makeRawRsaContent(parts))),
}

export const LAYOUTS: Readonly<Record<LayoutName, Layout>> = {
  parameters: parametersLayout,
  jws: jwsEmbedded,
  'jws-detached': jwsDetached,
  'raw-rsa': rawRsaLayout,
}

/** The rule that a profile from any source breaks; null when it is valid. */
export function profileProblem(profile: { readonly [Member in keyof SignatureProfile]: unknown }): string | null {
  if (!isMemberNameOf(LAYOUTS, profile.layout)) return `layout must be one of ${quotedMemberNamesText(LAYOUTS)}`
  if (!isMemberNameOf(CANONICAL_FORMS, profile.canonical_form)) {
    return `canonical_form must be one of ${quotedMemberNamesText(CANONICAL_FORMS)}`
  }
  if (!isMemberNameOf(DIGESTS, profile.digest_prefix)) return `digest_prefix must be one of ${quotedMemberNamesText(DIGESTS)}`
  const layout = LAYOUTS[profile.layout]
  if (profile.digest_prefix !== '' && !layout.digest) return 'digest_prefix must be "" in a layout without digest'
  const { algorithms } = profile
  if (!Array.isArray(algorithms) || algorithms.length === 0 || new Set(algorithms).size < algorithms.length) {
    return 'algorithms must be a list of different names, one at least'
  }
  if (!algorithms.every((name) => isMemberNameOf(ALGORITHMS, name))) {
    return `algorithms must be among ${quotedMemberNamesText(ALGORITHMS)}`
  }
  if (!algorithms.every((name: AlgorithmName) => layout.algorithms.includes(name))) {
    return 'algorithms must be among those that the layout carries'
  }
  return null
}

function isMemberNameOf<Row extends object>(rows: Row, name: unknown): name is keyof Row {
  return typeof name === 'string' && Object.hasOwn(rows, name)
}

function quotedMemberNamesText(rows: object): string {
  return Object.keys(rows)
    .map((name) => `"${name}"`)
    .join(', ')
}
