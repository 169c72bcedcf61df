/**
 * Encrypts a value: `version (1) nonce (12) ciphertext tag (16)`, numbers of bytes in brackets. AES-256-GCM with a key
 * that HKDF-SHA-256 derives from the master key for one purpose. The version of the master key, the purpose, the table
 * and the row are authenticated, so that a value decrypts in its own place only.
 */
import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'

/** The row to which an encrypted value is bound: elsewhere, the value does not decrypt. */
export interface ValueBinding {
  readonly table: string
  /** The primary key of the row. */
  readonly id: string
}

export interface MasterKey {
  /** The version of the master key, from 1 to 255. */
  readonly version: number
  readonly key: KeyObject
}

/** A value does not decrypt: it was altered, erased, moved to another place, or encrypted with another master key. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
}

/** Encrypts a value for its row and purpose. */
export function encryptValue(master: MasterKey, purpose: string, context: ValueBinding, plaintext: Uint8Array): Buffer {
  const bound = additionalData(master, purpose, context)
  return encrypt(derivePurposeKey(master, purpose), Buffer.of(master.version), bound, plaintext)
}

/** Decrypts what `encryptValue` made. @throws DecryptionError */
export function decryptValue(master: MasterKey, purpose: string, context: ValueBinding, encrypted: Uint8Array): Buffer {
  const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength)
  if (bytes.length < 1 + ENCRYPTION_OVERHEAD || bytes[0] !== master.version)
    throw new DecryptionError('not a value of this master key')
  const bound = additionalData(master, purpose, context)
  const plaintext = decrypt(derivePurposeKey(master, purpose), 1, bound, bytes)
  if (plaintext !== null) return plaintext
  throw new DecryptionError(`an encrypted value of ${context.table} was altered, moved, or encrypted with another master key`)
}

function derivePurposeKey({ key }: MasterKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `rollcall sealed value: ${purpose}`, 32))
}

/** The bytes to authenticate. They are a JSON array, so two different places never give the same bytes. */
function additionalData({ version }: MasterKey, purpose: string, { table, id }: ValueBinding): Buffer {
  return Buffer.from(JSON.stringify([version, purpose, table, id]))
}

const CIPHER_NAME = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The number of bytes by which an encrypted value is longer than its head and plaintext. */
export const ENCRYPTION_OVERHEAD = NONCE_BYTES + TAG_BYTES

/** The number of nonces that are made together: asking the system for random bytes costs more than encrypting. */
const NONCES_MADE_TOGETHER = 512
let drawn = Buffer.alloc(0)

function nextNonce(): Buffer {
  if (drawn.length === 0) drawn = randomBytes(NONCES_MADE_TOGETHER * NONCE_BYTES)
  const nonce = drawn.subarray(0, NONCE_BYTES)
  drawn = drawn.subarray(NONCE_BYTES)
  return nonce
}

/**
 * Encrypts with AES-256-GCM into `head nonce ciphertext tag`.
 * @param bound is authenticated: decryption needs the same bytes
 */
export function encrypt(key: KeyObject | Buffer, head: Buffer, bound: Buffer, plaintext: Uint8Array): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv(CIPHER_NAME, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(bound)
  return Buffer.concat([head, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts what `encrypt` made; null if it was altered, or the key or `bound` is different.
 * @param head the length of the head
 * @param bytes at least as long as the head and `ENCRYPTION_OVERHEAD`
 */
export function decrypt(key: KeyObject | Buffer, head: number, bound: Buffer, bytes: Buffer): Buffer | null {
  const nonce = bytes.subarray(head, head + NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER_NAME, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(bound)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const plaintext = decipher.update(bytes.subarray(head + NONCE_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([plaintext, decipher.final()])
  } catch {
    // The cipher's error is dropped: it says only that the value does not decrypt.
    return null
  }
}
