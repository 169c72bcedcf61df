/**
 * The signature profile of a participant, and the interface of layouts, which write a signature as text and read it.
 */

import type { Bytes } from '../base64.ts'
import type { AlgorithmName } from './algorithms.ts'
import type { CanonicalFormName, CanonicalParts } from './canonical-forms.ts'
import type { DigestPrefix } from './digests.ts'

/**
 * `parameters`: the list of named parameters of the spec. `jws`: compact JWS whose payload is header and message.
 * `jws-detached`: the same without the payload. `raw-rsa`: base64 of an RSA signature and nothing else.
 */
export type LayoutName = 'parameters' | 'jws' | 'jws-detached' | 'raw-rsa'

/** The way one participant signs, and we sign for it; fixed when it is registered (D16). */
export interface SignatureProfile {
  readonly layout: LayoutName
  readonly canonical_form: CanonicalFormName
  /** For the parameter layout; empty for all others. */
  readonly digest_prefix: DigestPrefix
  /** The accepted algorithms; never empty. */
  readonly algorithms: readonly AlgorithmName[]
}

/** The profile of the spec, with the algorithm of its examples. */
export const DEFAULT_SIGNATURE_PROFILE: SignatureProfile = {
  layout: 'parameters',
  canonical_form: 'rfc8785',
  digest_prefix: '',
  algorithms: ['EdDSA'],
}

/** The claims of a signature. They are not trustworthy before `verifySignature` has resolved. */
export interface SignatureClaims {
  /** null when the layout has no sender: then it is the header's sender_id. */
  readonly sender_id: string | null
  /** The sender's key; null when the signature does not name it. */
  readonly kid: string | null
  readonly algorithm: AlgorithmName
  /** Unix time in seconds; null when the layout has none; the same for `expires`. */
  readonly created: number | null
  readonly expires: number | null
}

/** A signature that follows the grammar of its layout; not yet verified. */
export interface ReadSignature extends SignatureClaims {
  readonly canonical_form: CanonicalFormName
  /** The bytes of the signature itself. */
  readonly value: Bytes
  /**
   * The signed bytes for this header and message. `canonical` brings another JSON text, such as an embedded payload,
   * into the same canonical form.
   * @throws {SignatureProblem} the signature has a payload that differs from header and message
   */
  content(parts: CanonicalParts, canonical: (text: string) => string): Promise<Bytes>
}

/** The rules for reading a signature. */
export interface ReadingRules {
  readonly profile: SignatureProfile
  /** Values of `namespace` that are accepted (D17). */
  readonly namespaces: readonly string[]
}

/** The claims for writing a signature. */
export interface WritingClaims {
  readonly profile: SignatureProfile
  readonly sender_id: string
  readonly kid: string
  readonly algorithm: AlgorithmName
  readonly namespace: string
  readonly created: number
  readonly expires: number
}

export interface Layout {
  /** The algorithms that it supports. */
  readonly algorithms: readonly AlgorithmName[]
  /** Whether a signature has an expiry; otherwise the time of the message limits its validity. */
  readonly expires: boolean
  /** Whether a digest is signed, so that a prefix may be chosen. */
  readonly digest: boolean
  /** @throws {SignatureProblem} */
  read(text: string, rules: ReadingRules): ReadSignature
  /** `signed` makes the signature of some bytes. */
  write(parts: CanonicalParts, claims: WritingClaims, signed: (content: Bytes) => Promise<Bytes>): Promise<string>
}
