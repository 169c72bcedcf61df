/** Signs messages that we send. */
import { type AlgorithmName, fitsAlgorithm, type WebCryptoKey } from './algorithms.ts'
import { outgoingParts } from './canonical-forms.ts'
import type { SignatureProfile } from './layout.ts'
import { LAYOUTS } from './layouts.ts'
import { signContent } from './on-the-spot.ts'

/** A private key for signing, with the sender_id of its owner, its kid and its algorithm. */
export interface SigningKey {
  readonly sender_id: string
  readonly kid: string
  readonly algorithm: AlgorithmName
  readonly privateKey: WebCryptoKey
}

/** A header and message to sign, the key, and the statements of the signature. */
export interface SignRequest {
  readonly header: { readonly sender_id?: unknown; readonly [member: string]: unknown }
  readonly message: unknown
  readonly profile: SignatureProfile
  readonly key: SigningKey
  /** The value of the parameter `namespace`. */
  readonly namespace: string
  /** Whole seconds since 1970; `expires` likewise. Only layouts whose signatures expire write `created` and `expires`. */
  readonly created: number
  readonly expires: number
}

/**
 * Signs header and message. The body must have both as `canonicalJson` writes them, because all canonical forms except `rfc8785`
 * depend on the text.
 * @throws {TypeError} key, profile and header do not belong together, or the times are wrong: an error of the caller
 * @throws {CanonicalJsonError} the data have no canonical JSON
 */
export async function sign(request: SignRequest): Promise<string> {
  const { header, message, profile, key, namespace, created, expires } = request
  const { sender_id, kid, algorithm, privateKey } = key
  if (header.sender_id !== sender_id) throw new TypeError('the key belongs to another sender_id than the header')
  if (!profile.algorithms.includes(algorithm)) throw new TypeError('the algorithm is not one of the profile')
  if (!fitsAlgorithm(privateKey, algorithm)) throw new TypeError('the key is for another algorithm')
  if (!isUnixTime(created) || !isUnixTime(expires) || expires <= created) {
    throw new TypeError('created and expires must be Unix times in whole seconds, created first')
  }
  const claims = { profile, sender_id, kid, algorithm, namespace, created, expires }
  return LAYOUTS[profile.layout].write(outgoingParts(header, message, profile.canonical_form), claims, (content) =>
    signContent(content, privateKey, algorithm),
  )
}

/** The bytes that `sign` would sign with this key; the private key is not needed. */
export async function signedContent({
  header,
  message,
  profile,
  key,
  ...claims
}: Omit<SignRequest, 'key'> & { readonly key: Omit<SigningKey, 'privateKey'> }): Promise<Uint8Array> {
  let content = new Uint8Array()
  await LAYOUTS[profile.layout].write(
    outgoingParts(header, message, profile.canonical_form),
    { profile, ...key, ...claims },
    async (bytes) => {
      content = bytes
      return new Uint8Array()
    },
  )
  return content
}

function isUnixTime(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 0
}
