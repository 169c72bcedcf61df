/** Reads keys for encrypting and decrypting messages from JWKs (RFC 7517; public-standard 1.5). */
import { type CryptoKey, importJWK, type JWK } from 'jose'
import { findEncryptionJwkType, isKid, isPrivateJwk, type Jwk, KeyRefused, KID_MAX_LENGTH, type LooseJwk } from '../jwk.ts'
import type { WebCryptoKey } from '../signature/algorithms.ts'
import { findKeyEncryption, type KeyEncryption, rsaModulusBits } from './algorithms.ts'

/** A receiver's public key, imported for encrypting messages. */
export interface EncryptionKey {
  readonly kid: string
  readonly alg: KeyEncryption['alg']
  readonly key: CryptoKey
}

const MODULUS_BITS = { least: 2048, most: 8192 }

/**
 * Reads a receiver's public key: `kid` and `alg` are required, `use` must be `enc` if it is present, an RSA key must
 * have 2048 to 8192 bits. Members about other uses (`key_ops`, `ext`, `x5c` ...) are ignored.
 * @throws {KeyRefused} and nothing else
 */
export async function publicEncryptionKey(jwk: LooseJwk): Promise<EncryptionKey> {
  const { kid, use } = jwk
  if (!isKid(kid)) throw new KeyRefused(`kid: must be a text of 1 to ${KID_MAX_LENGTH} characters`)
  if (use !== undefined && use !== 'enc') throw new KeyRefused('use: must be enc')
  if (isPrivateJwk(jwk)) throw new KeyRefused('the key is private; a receiver gives its public key only')
  const algorithm = findKeyEncryption(jwk.alg)
  if (algorithm === undefined) throw new KeyRefused('alg: must be RSA-OAEP-256 or ECDH-ES+A256KW, and fit the key')
  const shape = findEncryptionJwkType(jwk)
  if (shape === undefined || !algorithm.kty.includes(shape.kty)) {
    throw new KeyRefused('kty: the key is not of a type and shape that its alg works with')
  }
  const members = ['kty', ...(shape.crv === undefined ? [] : ['crv']), ...shape.members]
  const bare = Object.fromEntries(members.map((member) => [member, jwk[member]])) as JWK
  const key = await importPublicKey(bare, algorithm)
  checkRsaKey(key)
  return { kid, alg: algorithm.alg, key }
}

async function importPublicKey(jwk: JWK, { alg }: KeyEncryption): Promise<CryptoKey> {
  try {
    // `importJWK` returns bytes only for symmetric keys, and no algorithm here has such keys.
    return (await importJWK(jwk, alg)) as CryptoKey
  } catch {
    throw new KeyRefused('the members of the key are no public key')
  }
}

function checkRsaKey(key: CryptoKey): void {
  const bits = rsaModulusBits(key)
  if (bits === null || !('publicExponent' in key.algorithm)) return
  if (bits < MODULUS_BITS.least || bits > MODULUS_BITS.most) {
    throw new KeyRefused(`n: must have ${MODULUS_BITS.least} to ${MODULUS_BITS.most} bits`)
  }
  // With the exponent 1, anybody could compute the content key from `encrypted_key`.
  const publicExponent = key.algorithm.publicExponent as Uint8Array
  const significant = publicExponent.slice(publicExponent.findIndex((byte) => byte !== 0))
  const [first = 0] = significant
  if (significant.length > 8 || (significant.length === 1 && first < 3)) {
    throw new KeyRefused('e: must be an exponent of 3 or more and at most 64 bits')
  }
}

/** The WebCrypto parameters of private keys for decryption, for each type of key. */
const DECRYPTION_KEY_TYPES = [
  { kty: 'RSA', crv: undefined, parameters: { name: 'RSA-OAEP', hash: 'SHA-256' }, usages: ['decrypt'] },
  { kty: 'EC', crv: 'P-256', parameters: { name: 'ECDH', namedCurve: 'P-256' }, usages: ['deriveBits'] },
  { kty: 'EC', crv: 'P-384', parameters: { name: 'ECDH', namedCurve: 'P-384' }, usages: ['deriveBits'] },
  { kty: 'EC', crv: 'P-521', parameters: { name: 'ECDH', namedCurve: 'P-521' }, usages: ['deriveBits'] },
  { kty: 'OKP', crv: 'X25519', parameters: { name: 'X25519' }, usages: ['deriveBits'] },
] as const

/** Finds a private key by its kid, for `decryptMessage`; null when there is none. */
export type DecryptionKeys = (kid: string) => Promise<WebCryptoKey | null>

/**
 * Makes a `DecryptionKeys` from JWKs. Each key is imported at its first use, which throws KeyRefused when it is broken.
 * @throws TypeError a key has no kid, is public, or has an unsupported type
 */
export function decryptionKeys(jwks: readonly Jwk[]): DecryptionKeys {
  const keys = new Map<unknown, () => Promise<WebCryptoKey>>()
  for (const jwk of jwks) {
    const row = DECRYPTION_KEY_TYPES.find(({ kty, crv }) => kty === jwk.kty && crv === jwk.crv)
    if (row === undefined) throw new TypeError('a key to decrypt with must be of type RSA, EC or OKP')
    if (!isKid(jwk.kid)) throw new TypeError('a key to decrypt with must have a kid')
    if (jwk.d === undefined) throw new TypeError('a key to decrypt with must be private')
    const { alg: _alg, use: _use, key_ops: _operations, ext: _extractable, ...material } = jwk
    let imported: Promise<WebCryptoKey> | undefined
    keys.set(jwk.kid, () => {
      imported ??= crypto.subtle.importKey('jwk', material, row.parameters, false, [...row.usages]).catch(() => {
        throw new KeyRefused('the key to decrypt with cannot be read: one of its members is wrong')
      })
      return imported
    })
  }
  return async (kid) => (await keys.get(kid)?.()) ?? null
}
