/**
 * How messages are encrypted, one row for each algorithm (spec "EncryptedMessage"; RFC 7518). Only these rows name
 * algorithms; algorithms without a row (RSA1_5, RSA-OAEP, dir, PBES2, AES-CBC ...) are refused.
 */

import type { CryptoKey } from 'jose'

/** The encryption of a content key for the receiver: `header.alg`. */
export interface KeyEncryption {
  readonly alg: 'RSA-OAEP-256' | 'ECDH-ES+A256KW'
  /** Types of JWKs (`kty`) that it can use. */
  readonly kty: readonly string[]
  /** Members that the header has besides alg, enc and kid. */
  readonly extra: readonly string[]
  /** Bytes of `encrypted_key`, for one key and one size of content key. */
  encryptedKeyBytes(key: CryptoKey, contentKeyBytes: number): number
}

/** The encryption of the content: `header.enc`. */
export interface ContentEncryption {
  readonly enc: 'A256GCM' | 'A128GCM'
  readonly keyBytes: number
}

export const KEY_ENCRYPTIONS: readonly KeyEncryption[] = [
  { alg: 'RSA-OAEP-256', kty: ['RSA'], extra: [], encryptedKeyBytes: (key) => ((rsaModulusBits(key) ?? 0) + 7) >> 3 },
  {
    alg: 'ECDH-ES+A256KW',
    kty: ['EC', 'OKP'],
    extra: ['epk'],
    // AES key wrap adds one block of eight bytes (RFC 3394).
    encryptedKeyBytes: (_key, contentKeyBytes) => contentKeyBytes + 8,
  },
]

export const CONTENT_ENCRYPTIONS: readonly ContentEncryption[] = [
  { enc: 'A256GCM', keyBytes: 32 },
  { enc: 'A128GCM', keyBytes: 16 },
]

/** GCM, for every content encryption above (RFC 7518, 5.3). */
export const IV_BYTES = 12
export const TAG_BYTES = 16

export function keyEncryption(alg: unknown): KeyEncryption | undefined {
  return KEY_ENCRYPTIONS.find((row) => row.alg === alg)
}

export function contentEncryption(enc: unknown): ContentEncryption | undefined {
  return CONTENT_ENCRYPTIONS.find((row) => row.enc === enc)
}

/** Bits of the modulus of an RSA key; null for any other key. */
export function rsaModulusBits({ algorithm }: CryptoKey): number | null {
  return 'modulusLength' in algorithm ? Number(algorithm.modulusLength) : null
}
