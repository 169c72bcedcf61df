/** The signature profile of a participant, and the interface of layouts, which read and write signatures as text. */

import type { Bytes } from '../base64.ts'
import type { AlgorithmName } from './algorithms.ts'
import type { CanonicalFormName, CanonicalParts } from './canonical-forms.ts'
import type { DigestPrefix } from './digests.ts'

/**
 * `parameters`: the specification's list of named parameters. `jws`: compact JWS with header and message as payload.
 * `jws-detached`: the same without the payload. `raw-rsa`: only an RSA signature in base64.
 */
export type LayoutName = 'parameters' | 'jws' | 'jws-detached' | 'raw-rsa'

/** How one participant signs, and how we sign for it. The operator sets it (D16). */
export interface SignatureProfile {
  readonly layout: LayoutName
  readonly canonical_form: CanonicalFormName
  /** The prefix of the digest in the layout `parameters`; empty for all other layouts. */
  readonly digest_prefix: DigestPrefix
  /** The algorithms that signatures by or for the participant may have, at least one. */
  readonly algorithms: readonly AlgorithmName[]
}

/** The profile of the specification, with the algorithm of its examples. */
export const DEFAULT_SIGNATURE_PROFILE: SignatureProfile = {
  layout: 'parameters',
  canonical_form: 'rfc8785',
  digest_prefix: '',
  algorithms: ['EdDSA'],
}

/** The statements of a signature. Do not trust them until the promise of `verifySignature` has resolved. */
export interface SignatureClaims {
  /** The sender in the signature; null when the layout has none: the header's sender_id is used then. */
  readonly sender_id: string | null
  /** The name of the sender's key; null when the signature does not name it. */
  readonly kid: string | null
  readonly algorithm: AlgorithmName
  /** Seconds since 1970; null when the layout has no times. `expires` likewise. */
  readonly created: number | null
  readonly expires: number | null
}

/** A signature that was read from its text, and not verified yet. */
export interface ReadSignature extends SignatureClaims {
  readonly canonical_form: CanonicalFormName
  /** The bytes of the signature. */
  readonly value: Bytes
  /**
   * The bytes that were signed, for this header and message. `canonical` returns the canonical form of the payload that some
   * signatures contain, to compare it with `parts`.
   * @throws {SignatureProblem} the signature's payload differs from header and message
   */
  content(parts: CanonicalParts, canonical: (text: string) => string): Promise<Bytes>
}

/** The rules for reading a signature. */
export interface ReadingRules {
  readonly profile: SignatureProfile
  /** The values of `namespace` that are accepted (D17). */
  readonly namespaces: readonly string[]
}

/** The statements of a signature to be written. */
export interface WritingClaims {
  readonly profile: SignatureProfile
  readonly sender_id: string
  readonly kid: string
  readonly algorithm: AlgorithmName
  readonly namespace: string
  readonly created: number
  readonly expires: number
}

/** A way to read and write signatures as text. */
export interface Layout {
  /** The algorithms that the layout supports. */
  readonly algorithms: readonly AlgorithmName[]
  /** True when a signature has an expiry. Otherwise the time of the message limits its validity. */
  readonly expires: boolean
  /** True when a digest is signed, so that a prefix may be chosen. */
  readonly digest: boolean
  /** Reads the text of a signature. @throws {SignatureProblem} */
  read(text: string, rules: ReadingRules): ReadSignature
  /**
   * Returns a new signature as text. The function `signed` is given the bytes to sign, and returns the bytes of the signature.
   */
  write(parts: CanonicalParts, claims: WritingClaims, signed: (content: Bytes) => Promise<Bytes>): Promise<string>
}
