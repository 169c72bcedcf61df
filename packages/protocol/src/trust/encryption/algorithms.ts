/**
 * The algorithms for encrypting messages, one row each (spec "EncryptedMessage"; RFC 7518). Algorithms without a row
 * (RSA1_5, RSA-OAEP, dir, PBES2, AES-CBC ...) are refused.
 */

import type { CryptoKey } from 'jose'

/** An algorithm that encrypts the content key for the receiver: `header.alg`. */
export interface KeyEncryption {
  readonly alg: 'RSA-OAEP-256' | 'ECDH-ES+A256KW'
  /** The types of JWKs (`kty`) that the algorithm can use. */
  readonly kty: readonly string[]
  /** Members that the header of a message has with this algorithm besides alg, enc and kid. */
  readonly extra: readonly string[]
  /** Computes the size of `encrypted_key` in bytes, for a key and a size of content key. */
  encryptedKeyBytes(key: CryptoKey, contentKeyBytes: number): number
}

/** An algorithm that encrypts the content: `header.enc`. */
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
    // AES key wrap adds a block of eight bytes (RFC 3394).
    encryptedKeyBytes: (_key, contentKeyBytes) => contentKeyBytes + 8,
  },
]

export const CONTENT_ENCRYPTIONS: readonly ContentEncryption[] = [
  { enc: 'A256GCM', keyBytes: 32 },
  { enc: 'A128GCM', keyBytes: 16 },
]

/** The sizes in bytes of IV and tag for GCM, which every content encryption here uses (RFC 7518, 5.3). */
export const IV_BYTES = 12
export const TAG_BYTES = 16

/** The algorithm with this value of `header.alg`; undefined when we do not support it. */
export function findKeyEncryption(alg: unknown): KeyEncryption | undefined {
  return KEY_ENCRYPTIONS.find((row) => row.alg === alg)
}

/** The algorithm with this value of `header.enc`; undefined when we do not support it. */
export function findContentEncryption(enc: unknown): ContentEncryption | undefined {
  return CONTENT_ENCRYPTIONS.find((row) => row.enc === enc)
}

/** The number of bits of an RSA key's modulus; null for other keys. */
export function rsaModulusBits({ algorithm }: CryptoKey): number | null {
  return 'modulusLength' in algorithm ? Number(algorithm.modulusLength) : null
}
