/** How a participant signs (its profile), and what a layout is: how a signature is written into a text and read from it. */

import type { Bytes } from '../base64.ts'
import type { AlgorithmName } from './algorithms.ts'
import type { CanonicalFormName, CanonicalParts } from './canonical-forms.ts'
import type { DigestPrefix } from './digests.ts'

/**
 * `parameters`: the list of named parameters of the spec. `jws`: compact JWS whose payload is header and message.
 * `jws-detached`: the same without the payload. `raw-rsa`: base64 of an RSA signature and nothing else.
 */
export type LayoutName = 'parameters' | 'jws' | 'jws-detached' | 'raw-rsa'

/** How one participant signs, and how we sign for it: one row, fixed when it is registered (D16). */
export interface SignatureProfile {
  readonly layout: LayoutName
  readonly canonical_form: CanonicalFormName
  /** Of the parameter layout; empty with all others. */
  readonly digest_prefix: DigestPrefix
  /** The accepted ones; never empty. */
  readonly algorithms: readonly AlgorithmName[]
}

/** What the spec describes, with the algorithm of its examples. */
export const DEFAULT_SIGNATURE_PROFILE: SignatureProfile = {
  layout: 'parameters',
  canonical_form: 'rfc8785',
  digest_prefix: '',
  algorithms: ['EdDSA'],
}

/** What a signature says of itself. Nothing of it is true before `verifySignature` has resolved. */
export interface SignatureClaims {
  /** null where the layout names no sender: it is the header's sender_id then. */
  readonly sender_id: string | null
  /** Which of the sender's keys; null where the signature does not say. */
  readonly kid: string | null
  readonly algorithm: AlgorithmName
  /** Unix time in seconds; null where the layout has none, as with `expires`. */
  readonly created: number | null
  readonly expires: number | null
}

/** A signature that follows the grammar of its layout; not yet verified. */
export interface ReadSignature extends SignatureClaims {
  readonly canonical_form: CanonicalFormName
  /** The bytes of the signature itself. */
  readonly value: Bytes
  /**
   * The bytes that it signs, when header and message are these. `canonical` brings another JSON text, such as an
   * embedded payload, into the same canonical form.
   *
   * @throws {SignatureProblem} when the signature holds a payload that is not header and message
   */
  content(parts: CanonicalParts, canonical: (text: string) => string): Promise<Bytes>
}

/** What reading needs to know beside the text. */
export interface ReadingRules {
  readonly profile: SignatureProfile
  /** Values of `namespace` that are accepted (D17). */
  readonly namespaces: readonly string[]
}

/** What writing needs beside the canonical parts. */
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
  /** Algorithms that it can carry. */
  readonly algorithms: readonly AlgorithmName[]
  /** Whether a signature says when it expires; without, the time of the message bounds its life. */
  readonly expires: boolean
  /** Whether a digest is signed, so that a prefix may be chosen. */
  readonly digest: boolean
  /** @throws {SignatureProblem} */
  read(text: string, rules: ReadingRules): ReadSignature
  /** `signed` makes the signature of some bytes. */
  write(parts: CanonicalParts, claims: WritingClaims, signed: (content: Bytes) => Promise<Bytes>): Promise<string>
}
