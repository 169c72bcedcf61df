/** Keys as JWKs (RFC 7517): checks their members, and imports them as WebCrypto keys that can only sign, or only verify. */
import { base64urlByteCount, fromBase64Url, toBase64Url } from './base64.ts'
import { ALGORITHMS, type AlgorithmName, fitsAlgorithm, RSA_BITS, type WebCryptoKey } from './signature/algorithms.ts'
import { prepareSynchronousSigner } from './signature/on-the-spot.ts'

/** A JWK (RFC 7517). The named members are checked here; the JWK may have others. */
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

/** A JWK that was not checked yet. */
export type LooseJwk = Readonly<Record<string, unknown>>

/** The key is refused. The message names the rule, never a value. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused'
}

export const KID_MAX_LENGTH = 256

/** True for a valid `kid`: a text of 1 to 256 characters. */
export function isKid(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= KID_MAX_LENGTH
}

/** Members that only private and symmetric keys have (RFC 7518, 6.2.2, 6.3.2, 6.4; RFC 8037, 2). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** True when a JWK has a member that only private and symmetric keys have. */
export function isPrivateJwk(jwk: LooseJwk): boolean {
  return PRIVATE_MEMBERS.some((member) => Object.hasOwn(jwk, member) && jwk[member] !== undefined)
}

/** A type of public key (its `kty` and `crv`), with the members that define a key, all in base64url. */
export interface JwkType {
  readonly kty: string
  readonly crv?: string
  readonly members: readonly string[]
  /** The number of bytes of each member; null for RSA, whose members have no fixed size. */
  readonly bytes: number | null
  /** True when the members are numbers, whose leading zeros have no meaning. */
  readonly numbers: boolean
  /** True when messages can be encrypted with keys of this type. */
  readonly encrypts: boolean
}

const JWK_TYPES: readonly JwkType[] = [
  { kty: 'RSA', members: ['n', 'e'], bytes: null, numbers: true, encrypts: true },
  { kty: 'EC', crv: 'P-256', members: ['x', 'y'], bytes: 32, numbers: true, encrypts: true },
  { kty: 'EC', crv: 'P-384', members: ['x', 'y'], bytes: 48, numbers: true, encrypts: true },
  { kty: 'EC', crv: 'P-521', members: ['x', 'y'], bytes: 66, numbers: true, encrypts: true },
  { kty: 'OKP', crv: 'X25519', members: ['x'], bytes: 32, numbers: false, encrypts: true },
  { kty: 'OKP', crv: 'Ed25519', members: ['x'], bytes: 32, numbers: false, encrypts: false },
]

const findJwkType = (jwk: LooseJwk): JwkType | undefined =>
  JWK_TYPES.find(({ kty, crv }) => kty === jwk.kty && (crv === undefined || crv === jwk.crv))

/**
 * The row of `JWK_TYPES` for a public JWK that can encrypt messages; undefined when its `kty` and `crv` cannot encrypt,
 * or its members are not base64url of the right size. Other members are ignored.
 */
export function findEncryptionJwkType(jwk: LooseJwk): JwkType | undefined {
  const shape = findJwkType(jwk)
  return shape?.encrypts &&
    shape.members.every((member) => {
      const bytes = base64urlByteCount(jwk[member])
      return bytes !== null && (shape.bytes === null || bytes === shape.bytes)
    })
    ? shape
    : undefined
}

/**
 * The members that define a public key, in the one form that is the same for every spelling of the key: numbers have the size
 * of their type or no leading zeros, and base64url has no padding. Null for an unknown type, or a member that is not base64 or
 * has the wrong size.
 */
export function findCanonicalPublicJwk(jwk: LooseJwk): Jwk | null {
  const shape = findJwkType(jwk)
  if (shape === undefined) return null
  const members = shape.members.map((member) => [member, findCanonicalBase64Url(jwk[member], shape)] as const)
  if (members.some(([, text]) => text === null)) return null
  return { kty: shape.kty, ...(shape.crv !== undefined && { crv: shape.crv }), ...Object.fromEntries(members) }
}

function findCanonicalBase64Url(text: unknown, { bytes: size, numbers }: JwkType): string | null {
  if (typeof text !== 'string') return null
  const bytes = fromBase64Url(text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
  if (bytes === null) return null
  if (!numbers) return bytes.length === size ? toBase64Url(bytes) : null
  const first = bytes.findIndex((byte) => byte !== 0)
  const significant = first < 0 ? bytes.subarray(bytes.length) : bytes.subarray(first)
  if (size === null) return toBase64Url(significant)
  if (significant.length > size) return null
  const padded = new Uint8Array(size)
  padded.set(significant, size - significant.length)
  return toBase64Url(padded)
}

/** The signature algorithm for a key's kty and crv; null when we support none. */
export function algorithmOfJwk(jwk: Jwk): AlgorithmName | null {
  const row = Object.values(ALGORITHMS).find((row) => row.jwk.kty === jwk.kty && row.jwk.crv === jwk.crv)
  return row?.name ?? null
}

/**
 * Imports a key that verifies signatures of one algorithm.
 *
 * @throws {KeyRefused} the key is private, of another algorithm or broken, or its size or exponent is not allowed
 */
export async function importVerifyingKey(jwk: Jwk, algorithm: AlgorithmName): Promise<WebCryptoKey> {
  if (isPrivateJwk(jwk)) throw new KeyRefused('this is a private key; a public key is expected')
  if (jwk.kty === 'OKP' && hasSmallOrder(jwk.x)) {
    throw new KeyRefused('this key is unsafe: signatures that nobody made would verify with it; make a new key')
  }
  if (jwk.kty === 'RSA' && jwk.e !== 'AQAB') {
    throw new KeyRefused('the public exponent of an RSA key must be 65537')
  }
  return importKeyForUse(jwk, algorithm, 'verify')
}

/**
 * Imports a key that signs with one algorithm, and cannot be exported again.
 *
 * @throws {KeyRefused} the key is public, of another algorithm or broken, or its size is not allowed
 */
export async function importSigningKey(jwk: Jwk, algorithm: AlgorithmName): Promise<WebCryptoKey> {
  if (jwk.d === undefined) throw new KeyRefused('this is a public key; a private key is expected')
  return importKeyForUse(jwk, algorithm, 'sign')
}

async function importKeyForUse(jwk: Jwk, algorithm: AlgorithmName, usage: 'sign' | 'verify'): Promise<WebCryptoKey> {
  if (algorithmOfJwk(jwk) !== algorithm) throw new KeyRefused('the key is for another algorithm')
  // `readPublicKey` checks what the JWK says about its use. Here the caller decides about the use.
  const { alg: _alg, use: _use, key_ops: _operations, ext: _extractable, ...material } = jwk
  const key = await crypto.subtle
    .importKey('jwk', material, ALGORITHMS[algorithm].webCrypto as { name: string; hash: string }, false, [usage])
    .catch(() => {
      throw new KeyRefused('the key cannot be read: one of its members is wrong')
    })
  if (!fitsAlgorithm(key, algorithm))
    throw new KeyRefused(
      `an RSA key must have ${RSA_BITS.least} to ${RSA_BITS.most} bits; make a new key, such as with openssl genpkey -algorithm ed25519`,
    )
  if (usage === 'sign') prepareSynchronousSigner(key, material, algorithm)
  return key
}

/**
 * The points of small order on edwards25519, in all encodings; the sign bit of x is cleared. If such a point is the public key,
 * anybody can write a signature that verifies with it. Not every JavaScript engine refuses such keys.
 */
const SMALL_ORDER_POINTS = [
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
  return SMALL_ORDER_POINTS.includes(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''))
}
