/** The signature algorithms, one row each. No other code lists them. */

/** A key of WebCrypto, under a name that both browsers' and Node's types know. */
export type WebCryptoKey = Parameters<typeof crypto.subtle.verify>[1]

/** Names of RFC 7518 and RFC 8037. */
export type AlgorithmName = 'EdDSA' | 'ES256' | 'RS256'

/** A list of spellings: all are read, the first is written. */
type Spellings = readonly [string, ...string[]]

export interface Algorithm {
  readonly name: AlgorithmName
  /** Its names in a message, by their place in the message. Compared letter by letter. */
  readonly spellings: { readonly parameters: Spellings; readonly jws: Spellings }
  /** The required members of a JWK. */
  readonly jwk: { readonly kty: string; readonly crv?: string }
  /** Parameters for importKey, sign and verify of WebCrypto; a key's own must agree with them. */
  readonly webCrypto: { readonly name: string; readonly namedCurve?: string; readonly hash?: string }
  /** Whether a signature takes less time than its way to another thread and back: 21 µs beside 35. */
  readonly quick: boolean
}

/**
 * `ed25519` is the spec's own example. ECDSA signatures are r and s, 32 bytes each, as in JWS and WebCrypto;
 * RSA signatures are PKCS #1 v1.5 with SHA-256.
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

/** The place that names an algorithm: the list of parameters or the header of a JWS. */
export type SpellingPlace = keyof Algorithm['spellings']

/** The algorithm named by `text`, if it is allowed; null for all others, including `none` and HMAC. */
export function algorithmSpelt(
  text: string,
  place: SpellingPlace,
  allowed: readonly AlgorithmName[],
): AlgorithmName | null {
  return allowed.find((name) => ALGORITHMS[name].spellings[place].includes(text)) ?? null
}

/** RSA keys below are breakable (NIST SP 800-131A), above are a way to keep a server busy. */
export const RSA_BITS = { least: 2048, most: 8192 }

/** Whether a key fits the algorithm: curve, hash and size included. */
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
    // An ECDSA key is for any hash, an RSA key for one.
    (own.hash === undefined || own.hash.name === wanted.hash) &&
    bits >= RSA_BITS.least &&
    bits <= RSA_BITS.most
  )
}
