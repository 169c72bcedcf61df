/** Makes a signer from our own private JWK. */
import {
  type AlgorithmName,
  algorithmOfJwk,
  DEFAULT_SIGNATURE_PROFILE,
  importSigningKey,
  isKid,
  type Jwk,
  profileProblem,
  SIGNATURE_LIFETIME,
  type SignatureProfile,
  type Signer,
} from '@rollcall/protocol'

/** How our messages are signed: the key, the profile, the namespace and the lifetime. */
export interface Signing {
  /** The private key, with the `kid` under which the registry knows its public half. */
  readonly key: Jwk
  /** The signature profile; by default that of the specification, with the key's algorithm. */
  readonly profile?: SignatureProfile
  /** The `namespace` in signatures; `registry` by default. */
  readonly namespace?: string
  /** Seconds for which a signature is valid; 300 by default. */
  readonly lifetime?: number
}

/**
 * Makes a signer.
 * @throws TypeError key without kid or of an unknown algorithm, or a profile that does not fit
 * @throws KeyRefused the key cannot be used
 */
export async function signerOf(signing: Signing, sender_id: string): Promise<Signer> {
  const { key: jwk, namespace = 'registry', lifetime = SIGNATURE_LIFETIME } = signing
  const algorithm = algorithmOfJwk(jwk)
  if (algorithm === null) throw new TypeError('signing.key: must be a key for EdDSA, ES256 or RS256')
  if (!isKid(jwk.kid)) throw new TypeError('signing.key: must have a kid')
  const profile = signing.profile ?? defaultProfileFor(algorithm)
  const problem = profileProblem(profile)
  if (problem !== null) throw new TypeError(`signing.profile: ${problem}`)
  if (!profile.algorithms.includes(algorithm)) {
    throw new TypeError('signing.profile: its algorithms must include that of the key')
  }
  const privateKey = await importSigningKey(jwk, algorithm)
  return { key: { sender_id, kid: jwk.kid, algorithm, privateKey }, profile, namespace, lifetime }
}

const defaultProfileFor = (algorithm: AlgorithmName): SignatureProfile => ({
  ...DEFAULT_SIGNATURE_PROFILE,
  algorithms: [algorithm],
})

/**
 * The default profile for verifying a registry's answers: the `profile` by which we sign; if there is none, the profile of the
 * specification, with the algorithm of our own key as a further one.
 */
export function profileOfAnswers({ profile, key }: Signing): SignatureProfile {
  if (profile !== undefined) return profile
  const algorithm = algorithmOfJwk(key)
  const { algorithms } = DEFAULT_SIGNATURE_PROFILE
  if (algorithm === null || algorithms.includes(algorithm)) return DEFAULT_SIGNATURE_PROFILE
  return { ...DEFAULT_SIGNATURE_PROFILE, algorithms: [...algorithms, algorithm] }
}
