/** How one participant signs, and how we sign for it: one row, fixed when it is registered (D16). */
import type { AlgorithmName } from './algorithms.ts'
import type { CanonicalFormName } from './canonical-forms.ts'
import type { DigestPrefix } from './digests.ts'

/**
 * `parameters`: the list of named parameters of the spec. `jws`: compact JWS whose payload is header and message.
 * `jws-detached`: the same without the payload. `raw-rsa`: base64 of an RSA signature and nothing else.
 */
export type LayoutName = 'parameters' | 'jws' | 'jws-detached' | 'raw-rsa'

export interface SignatureProfile {
  readonly layout: LayoutName
  readonly canonical_form: CanonicalFormName
  /** Of the parameter layout; empty with all others. */
  readonly digest_prefix: DigestPrefix
  /** Those that are taken; never empty. */
  readonly algorithms: readonly AlgorithmName[]
}

/** What the spec describes, with the algorithm of its examples. */
export const DEFAULT_SIGNATURE_PROFILE: SignatureProfile = {
  layout: 'parameters',
  canonical_form: 'rfc8785',
  digest_prefix: '',
  algorithms: ['EdDSA'],
}
