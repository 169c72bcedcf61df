/** From a JWK (RFC 7517) to a key of WebCrypto that signs or verifies with one algorithm and does nothing else. */
import { ALGORITHMS, type AlgorithmName, fitsAlgorithm, RSA_BITS, type WebCryptoKey } from './algorithms.ts'
import { fromBase64Url } from './base64.ts'

/** The members of a JWK that matter here; others are ignored. */
export interface Jwk {
  readonly kty: string
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
  readonly d?: string
  readonly [member: string]: unknown
}

/** Members that only private and symmetric keys have (RFC 7518, 6.2.2, 6.3.2, 6.4; RFC 8037, 2). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** Whether a JWK holds what only its owner may know, or claims to. */
export function isPrivateJwk(jwk: Readonly<Record<string, unknown>>): boolean {
  return PRIVATE.some((member) => Object.hasOwn(jwk, member) && jwk[member] !== undefined)
}

/** A JWK was refused. The message names the rule, never a value. */
export class JwkError extends Error {
  constructor(rule: string) {
    super(rule)
    this.name = 'JwkError'
  }
}

/** The algorithm that a key is for, by its kty and crv; null when it is for none of ours. */
export function algorithmOfJwk(jwk: Jwk): AlgorithmName | null {
  const row = Object.values(ALGORITHMS).find((row) => row.jwk.kty === jwk.kty && row.jwk.crv === jwk.crv)
  return row?.name ?? null
}

/**
 * A key that verifies signatures of one algorithm.
 *
 * @throws {JwkError} for a private key, a key of another algorithm, one that is broken or too weak
 */
export async function importVerifyingKey(jwk: Jwk, algorithm: AlgorithmName): Promise<WebCryptoKey> {
  if (isPrivateJwk(jwk)) throw new JwkError('this is a private key; a public key is expected')
  if (jwk.kty === 'OKP' && hasSmallOrder(jwk.x))
    throw new JwkError('this key is unsafe: signatures that nobody made would verify with it; make a new key')
  if (jwk.kty === 'RSA' && jwk.e !== 'AQAB')
    throw new JwkError('the public exponent of an RSA key must be 65537')
  return imported(jwk, algorithm, 'verify')
}

/**
 * A key that signs with one algorithm; it cannot be exported again.
 *
 * @throws {JwkError} for a public key, a key of another algorithm, one that is broken or too weak
 */
export async function importSigningKey(jwk: Jwk, algorithm: AlgorithmName): Promise<WebCryptoKey> {
  if (jwk.d === undefined) throw new JwkError('this is a public key; a private key is expected')
  return imported(jwk, algorithm, 'sign')
}

async function imported(jwk: Jwk, algorithm: AlgorithmName, usage: 'sign' | 'verify'): Promise<WebCryptoKey> {
  if (algorithmOfJwk(jwk) !== algorithm) throw new JwkError('the key is for another algorithm')
  // What the owner's JWK says of its use is the directory's to judge; here the caller decides.
  const { alg: _alg, use: _use, key_ops: _operations, ext: _extractable, ...material } = jwk
  const key = await crypto.subtle
    .importKey('jwk', material, ALGORITHMS[algorithm].webCrypto as { name: string; hash: string }, false, [
      usage,
    ])
    .catch(() => {
      throw new JwkError('the key cannot be read: one of its members is wrong')
    })
  if (!fitsAlgorithm(key, algorithm))
    throw new JwkError(`an RSA key must have ${RSA_BITS.least} to ${RSA_BITS.most} bits`)
  return key
}

/**
 * The points of small order on edwards25519, in all their encodings, without the sign bit. Anybody can write a
 * signature that verifies with one of them, unless the engine looks for it; not every engine does.
 */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]

function hasSmallOrder(x: string | undefined): boolean {
  const bytes = fromBase64Url(x ?? '')
  if (bytes?.length !== 32) return false
  bytes[31] = (bytes[31] ?? 0) & 0x7f
  return SMALL_ORDER.includes(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''))
}
