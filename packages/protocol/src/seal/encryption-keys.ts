/** Public keys that messages are encrypted for, read from JWKs (RFC 7517; public-standard 1.5). */
import { type CryptoKey, importJWK, type JWK } from 'jose'
import { base64urlBytes } from './base64url.ts'
import {
  KEY_SHAPES,
  type KeyEncryption,
  type KeyShape,
  keyEncryption,
  type RsaKeyAlgorithm,
} from './encryption-algorithms.ts'

/** A JWK cannot be used to encrypt. The message names the member and the rule, never a value. */
export class UnusableKey extends Error {
  constructor(rule: string) {
    super(rule)
    this.name = 'UnusableKey'
  }
}

/** A public key ready for use. */
export interface EncryptionKey {
  readonly kid: string
  readonly alg: KeyEncryption['alg']
  readonly key: CryptoKey
}

export const KID_MAX_LENGTH = 256
const MODULUS_BITS = { least: 2048, most: 8192 }
/** Members that only private keys have (RFC 7518, 6.2.2, 6.3.2, 6.4; RFC 8037, 2). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** A `kid`: a text of 1 to 256 characters. */
export function isKid(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= KID_MAX_LENGTH
}

/**
 * The shape that a public JWK has: its `kty` and `crv` are of one row and the row's members are base64url of the
 * right size. Other members do not count.
 */
export function keyShape(jwk: Readonly<Record<string, unknown>>): KeyShape | undefined {
  const row = KEY_SHAPES.find(({ kty, crv }) => kty === jwk.kty && (crv === undefined || crv === jwk.crv))
  return row?.members.every((member) => {
    const bytes = base64urlBytes(jwk[member])
    return bytes !== null && (row.bytes === null || bytes === row.bytes)
  })
    ? row
    : undefined
}

/**
 * Reads the public key of a receiver: `kid` and `alg` are required, `use` is `enc` where there is one, RSA keys
 * have 2048 to 8192 bits. Members that say how somebody else may use the key (`key_ops`, `ext`, `x5c` ...) do not
 * count.
 *
 * @throws {UnusableKey} and nothing else
 */
export async function publicEncryptionKey(jwk: Readonly<Record<string, unknown>>): Promise<EncryptionKey> {
  const { kid, use } = jwk
  if (!isKid(kid)) throw new UnusableKey(`kid: must be a text of 1 to ${KID_MAX_LENGTH} characters`)
  if (use !== undefined && use !== 'enc') throw new UnusableKey('use: must be enc')
  if (PRIVATE.some((member) => Object.hasOwn(jwk, member))) {
    throw new UnusableKey('the key is private; a receiver gives its public key only')
  }
  const algorithm = keyEncryption(jwk.alg)
  if (algorithm === undefined)
    throw new UnusableKey('alg: must be RSA-OAEP-256 or ECDH-ES+A256KW, and fit the key')
  const shape = keyShape(jwk)
  if (shape === undefined || !algorithm.kty.includes(shape.kty)) {
    throw new UnusableKey('kty: the key is not of a type and shape that its alg works with')
  }
  const members = ['kty', ...(shape.crv === undefined ? [] : ['crv']), ...shape.members]
  const bare = Object.fromEntries(members.map((member) => [member, jwk[member]])) as JWK
  const key = await imported(bare, algorithm)
  assertRsaStrength(key)
  return { kid, alg: algorithm.alg, key }
}

async function imported(jwk: JWK, { alg }: KeyEncryption): Promise<CryptoKey> {
  try {
    // Only symmetric keys come back as bytes, and no row has those.
    return (await importJWK(jwk, alg)) as CryptoKey
  } catch {
    throw new UnusableKey('the members of the key are no public key')
  }
}

function assertRsaStrength({ algorithm }: CryptoKey): void {
  if (!('modulusLength' in algorithm)) return
  const { modulusLength, publicExponent } = algorithm as unknown as RsaKeyAlgorithm
  if (modulusLength < MODULUS_BITS.least || modulusLength > MODULUS_BITS.most) {
    throw new UnusableKey(`n: must have ${MODULUS_BITS.least} to ${MODULUS_BITS.most} bits`)
  }
  // With an exponent of 1 the ciphertext is the content key.
  const significant = publicExponent.slice(publicExponent.findIndex((byte) => byte !== 0))
  const [first = 0] = significant
  if (significant.length > 8 || (significant.length === 1 && first < 3)) {
    throw new UnusableKey('e: must be an exponent of 3 or more and at most 64 bits')
  }
}
