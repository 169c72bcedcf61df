/** Encrypts a message that we send, once, and signs it for each attempt (spec "Authentication", N16). */
import { CanonicalText, canonicalJson } from './canonical-json.ts'
import { encryptMessage } from './encryption/encryption.ts'
import type { EncryptionKey } from './encryption/keys.ts'
import type { AlgorithmName } from './signature/algorithms.ts'
import type { SignatureProfile } from './signature/layout.ts'
import { type SigningKey, sign } from './signature/sign.ts'

/** Seconds for which a signature is valid, by default. */
export const SIGNATURE_LIFETIME = 300

/** The key that signs, and the settings of its signatures. */
export interface Signer {
  readonly key: SigningKey
  readonly profile: SignatureProfile
  /** The value of the parameter `namespace` in signatures. */
  readonly namespace: string
  /** Seconds for which a signature is valid. */
  readonly lifetime: number
}

/** A message that is ready to be signed: already encrypted, if it has to be. Header and content are the same in all attempts. */
export interface Prepared {
  readonly header: { readonly is_msg_encrypted: boolean; readonly [member: string]: unknown }
  readonly message: CanonicalText
}

/**
 * Encrypts a message for its receiver, if there is a key.
 * @param header without is_msg_encrypted, which is set here
 * @param key the receiver's key; null: the message is not encrypted
 */
export async function prepareEnvelope(
  { header, message }: { readonly header: object; readonly message: object },
  key: EncryptionKey | null,
): Promise<Prepared> {
  const clear = canonicalJson(message)
  const text = key === null ? clear : canonicalJson(await encryptMessage({ message: clear, key }))
  return { header: { ...header, is_msg_encrypted: key !== null }, message: new CanonicalText(text) }
}

/** Signs an envelope as `signedEnvelope` does, and returns only the text of the body. */
export const signedBody = async (...given: Parameters<typeof signedEnvelope>): Promise<string> =>
  (await signedEnvelope(...given)).text

/**
 * Returns the body as canonical JSON text with its signature, and the signature alone. Header and message are sent exactly as
 * they were written for the signature.
 * @param signer null: the body is not signed, and the returned signature is null
 * @param now milliseconds since 1970
 * @param beside further members of the body, which are not signed
 */
export async function signedEnvelope(
  { header, message }: Prepared,
  signer: Signer | null,
  now: number,
  beside: object = {},
): Promise<{ readonly text: string; readonly signature: string | null }> {
  if (signer === null) return { text: canonicalJson({ ...beside, header, message }), signature: null }
  const { lifetime, ...by } = signer
  const created = Math.floor(now / 1_000)
  const signature = await sign({ header, message, ...by, created, expires: created + lifetime })
  return { text: canonicalJson({ ...beside, header, message, signature }), signature }
}

/** The order in which our server chooses an algorithm among those of a participant's profile, the fastest first. */
const ALGORITHM_PREFERENCE: readonly AlgorithmName[] = ['EdDSA', 'ES256', 'RS256']

/**
 * The algorithm with which our server signs for a participant with this profile.
 * @throws {TypeError} the profile has no algorithm
 */
export function replyAlgorithm({ algorithms }: Pick<SignatureProfile, 'algorithms'>): AlgorithmName {
  const chosen = ALGORITHM_PREFERENCE.find((name) => algorithms.includes(name))
  if (chosen === undefined) throw new TypeError('the profile has no algorithm')
  return chosen
}
