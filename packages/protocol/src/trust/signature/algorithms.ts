/** The signature algorithms, one row each. */

/** A key of WebCrypto, as a type that both browsers and Node have. */
export type WebCryptoKey = Parameters<typeof crypto.subtle.verify>[1]

/** The name of a signature algorithm in RFC 7518 or RFC 8037. */
export type AlgorithmName = 'EdDSA' | 'ES256' | 'RS256'

/** All names of an algorithm that we read; we write the first one. */
type Spellings = readonly [string, ...string[]]

export interface Algorithm {
  readonly name: AlgorithmName
  /** The names in messages, in a list of parameters or in a JWS. They are compared exactly. */
  readonly spellings: { readonly parameters: Spellings; readonly jws: Spellings }
  /** The values of `kty` and `crv` that the JWK of a key must have. */
  readonly jwk: { readonly kty: string; readonly crv?: string }
  /** Parameters for importKey, sign and verify of WebCrypto. A key must have the same parameters. */
  readonly webCrypto: { readonly name: string; readonly namedCurve?: string; readonly hash?: string }
  /** True when signing takes less time (21 µs) than handing it to another thread and back (35 µs). */
  readonly quick: boolean
}

/**
 * The signature algorithms by name. `ed25519` is the specification's example. ECDSA signatures are r and s, 32 bytes
 * each, as in JWS and WebCrypto; RSA signatures are PKCS #1 v1.5 with SHA-256.
 */
export const ALGORITHMS: Readonly<Record<AlgorithmName, Algorithm>> = {
  EdDSA: {
    name: 'EdDSA',
    spellings: { parameters: ['ed25519', 'Ed25519', 'EdDSA'], jws: ['EdDSA', 'Ed25519'] },
    jwk: { kty: 'OKP', crv: 'Ed25519' },
    webCrypto: { name: 'Ed25519' },
    quick: true,
  },
  ES256: {
    name: 'ES256',
    spellings: { parameters: ['ES256', 'es256', 'ecdsa-p256-sha256'], jws: ['ES256'] },
    jwk: { kty: 'EC', crv: 'P-256' },
    webCrypto: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
    quick: false,
  },
  RS256: {
    name: 'RS256',
    spellings: { parameters: ['RS256', 'rs256', 'rsa-sha256'], jws: ['RS256'] },
    jwk: { kty: 'RSA' },
    webCrypto: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    quick: false,
  },
}

/** Where an algorithm is named: in a list of parameters or in the header of a JWS. */
export type AlgorithmSpellingPlace = keyof Algorithm['spellings']

/** The algorithm with this name, if it is allowed; null for all others, such as `none` and HMAC. */
export function findAllowedAlgorithm(
  text: string,
  place: AlgorithmSpellingPlace,
  allowed: readonly AlgorithmName[],
): AlgorithmName | null {
  return allowed.find((name) => ALGORITHMS[name].spellings[place].includes(text)) ?? null
}

/**
 * The smallest and the largest size of an RSA key, in bits. A shorter key is breakable (NIST SP 800-131A), a longer one would
 * keep a server busy.
 */
export const RSA_BITS = { least: 2048, most: 8192 }

/** True when a key fits the algorithm, with curve, hash and size. */
export function fitsAlgorithm(key: WebCryptoKey, name: AlgorithmName): boolean {
  const wanted = ALGORITHMS[name].webCrypto
  const own = key.algorithm as {
    readonly name: string
    readonly namedCurve?: string
    readonly hash?: { readonly name: string }
    readonly modulusLength?: number
  }
  const bits = own.modulusLength ?? RSA_BITS.least
  return (
    own.name === wanted.name &&
    own.namedCurve === wanted.namedCurve &&
    // Only an RSA key is imported with a hash. The hash of an ECDSA signature is chosen when it is made or verified.
    (own.hash === undefined || own.hash.name === wanted.hash) &&
    bits >= RSA_BITS.least &&
    bits <= RSA_BITS.most
  )
}
