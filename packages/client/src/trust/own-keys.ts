/** Our own private keys, from JWKs to what signs and opens. */
import {
  type AlgorithmName,
  algorithmOfJwk,
  DEFAULT_SIGNATURE_PROFILE,
  importSigningKey,
  isKid,
  type Jwk,
  profileProblem,
  type SignatureProfile,
  type SigningKey,
  type WebCryptoKey,
} from '@rollcall/protocol'

/** How we sign. */
export interface Signing {
  /** The private key, with the `kid` under which the registry knows its public half. */
  readonly key: Jwk
  /** By default what the specification describes, with the algorithm of the key. */
  readonly profile?: SignatureProfile
  /** The `namespace` in signatures; `registry` by default. */
  readonly namespace?: string
  /** Seconds that a signature lives; 300 by default. */
  readonly lifetime?: number
}

export interface Signer {
  readonly key: SigningKey
  readonly profile: SignatureProfile
  readonly namespace: string
  readonly lifetime: number
}

/**
 * @throws TypeError for a key without kid or of no algorithm that is spoken, or a profile that does not fit it
 * @throws JwkError for a key that cannot be used
 */
export async function signerOf(signing: Signing, sender_id: string): Promise<Signer> {
  const { key: jwk, namespace = 'registry', lifetime = 300 } = signing
  const algorithm = algorithmOfJwk(jwk)
  if (algorithm === null) throw new TypeError('signing.key: must be a key for EdDSA, ES256 or RS256')
  if (!isKid(jwk.kid)) throw new TypeError('signing.key: must have a kid')
  const profile = signing.profile ?? profileFor(algorithm)
  const problem = profileProblem(profile)
  if (problem !== null) throw new TypeError(`signing.profile: ${problem}`)
  if (!profile.algorithms.includes(algorithm)) {
    throw new TypeError('signing.profile: its algorithms must include that of the key')
  }
  const privateKey = await importSigningKey(jwk, algorithm)
  return { key: { sender_id, kid: jwk.kid, algorithm, privateKey }, profile, namespace, lifetime }
}

const profileFor = (algorithm: AlgorithmName): SignatureProfile => ({
  ...DEFAULT_SIGNATURE_PROFILE,
  algorithms: [algorithm],
})

/** The parameters that WebCrypto wants for private keys that open messages. One row a key type. */
const OPENING = [
  { kty: 'RSA', crv: undefined, parameters: { name: 'RSA-OAEP', hash: 'SHA-256' }, usages: ['decrypt'] },
  { kty: 'EC', crv: 'P-256', parameters: { name: 'ECDH', namedCurve: 'P-256' }, usages: ['deriveBits'] },
  { kty: 'EC', crv: 'P-384', parameters: { name: 'ECDH', namedCurve: 'P-384' }, usages: ['deriveBits'] },
  { kty: 'EC', crv: 'P-521', parameters: { name: 'ECDH', namedCurve: 'P-521' }, usages: ['deriveBits'] },
  { kty: 'OKP', crv: 'X25519', parameters: { name: 'X25519' }, usages: ['deriveBits'] },
] as const

/** Private keys by their kid, as `decryptMessage` asks for them. */
export type OpeningKeys = (kid: string) => Promise<WebCryptoKey | null>

/**
 * The keys with which encrypted messages are opened. Each is imported when it is first asked for.
 * @throws TypeError for a key without kid, a public one, or one of no type that is spoken
 */
export function openingKeys(jwks: readonly Jwk[]): OpeningKeys {
  const keys = new Map<unknown, () => Promise<WebCryptoKey>>()
  for (const jwk of jwks) {
    const row = OPENING.find(({ kty, crv }) => kty === jwk.kty && crv === jwk.crv)
    if (row === undefined) throw new TypeError('a key to decrypt with must be of type RSA, EC or OKP')
    if (!isKid(jwk.kid)) throw new TypeError('a key to decrypt with must have a kid')
    if (jwk.d === undefined) throw new TypeError('a key to decrypt with must be private')
    const { alg: _alg, use: _use, key_ops: _operations, ext: _extractable, ...material } = jwk
    let imported: Promise<WebCryptoKey> | undefined
    keys.set(jwk.kid, () => {
      imported ??= crypto.subtle.importKey('jwk', material, row.parameters, false, [...row.usages])
      return imported
    })
  }
  return async (kid) => (await keys.get(kid)?.()) ?? null
}
