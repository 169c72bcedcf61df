/**
 * An encrypted value: `version (1) | nonce (12) | ciphertext | tag (16)`, AES-256-GCM under a key that
 * HKDF-SHA-256 makes from the master key for one purpose. The version of the master key, the purpose, the table and
 * the row are authenticated with it, so that a value decrypts in its own place only.
 */
import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'

/** The row of a value. */
export interface ValueContext {
  readonly table: string
  /** Its primary key. */
  readonly id: string
}

export interface MasterKey {
  /** 1 to 255 */
  readonly version: number
  readonly key: KeyObject
}

/** A value does not decrypt: it was altered, moved to another place, or encrypted with another master key. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
}

export function encryptValue(master: MasterKey, purpose: string, context: ValueContext, plaintext: Uint8Array): Buffer {
  const bound = additionalData(master, purpose, context)
  return encrypt(keyFor(master, purpose), Buffer.of(master.version), bound, plaintext)
}

/** @throws DecryptionError */
export function decryptValue(master: MasterKey, purpose: string, context: ValueContext, encrypted: Uint8Array): Buffer {
  const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength)
  if (bytes.length < 1 + ENCRYPTION_OVERHEAD || bytes[0] !== master.version)
    throw new DecryptionError('not a value of this master key')
  const bound = additionalData(master, purpose, context)
  const plaintext = decrypt(keyFor(master, purpose), 1, bound, bytes)
  if (plaintext !== null) return plaintext
  throw new DecryptionError(
    `an encrypted value of ${context.table} was altered, moved, or encrypted with another master key`,
  )
}

function keyFor({ key }: MasterKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `rollcall sealed value: ${purpose}`, 32))
}

/** A JSON array: no two different places give the same bytes. */
function additionalData({ version }: MasterKey, purpose: string, { table, id }: ValueContext): Buffer {
  return Buffer.from(JSON.stringify([version, purpose, table, id]))
}

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16
/** Bytes of a ciphertext beside its head and its plaintext. */
export const ENCRYPTION_OVERHEAD = NONCE + TAG

/** Nonces that are drawn together: asking the system for random bytes costs more than encrypting a message. */
const DRAWN = 512
let drawn = Buffer.alloc(0)

function nextNonce(): Buffer {
  if (drawn.length === 0) drawn = randomBytes(DRAWN * NONCE)
  const nonce = drawn.subarray(0, NONCE)
  drawn = drawn.subarray(NONCE)
  return nonce
}

/**
 * `head | nonce | ciphertext | tag`, by AES-256-GCM.
 * @param bound authenticated with the plaintext: it decrypts together with the same bytes only
 */
export function encrypt(key: KeyObject | Buffer, head: Buffer, bound: Buffer, plaintext: Uint8Array): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  cipher.setAAD(bound)
  return Buffer.concat([head, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts what `encrypt` made; null if it was altered, or the key or `bound` is different.
 * @param head the length of the head
 * @param bytes at least the head and `OVERHEAD`
 */
export function decrypt(key: KeyObject | Buffer, head: number, bound: Buffer, bytes: Buffer): Buffer | null {
  const nonce = bytes.subarray(head, head + NONCE)
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  decipher.setAAD(bound)
  decipher.setAuthTag(bytes.subarray(-TAG))
  const plaintext = decipher.update(bytes.subarray(head + NONCE, -TAG))
  try {
    return Buffer.concat([plaintext, decipher.final()])
  } catch {
    // There is nothing in the error but the library's own words for the same.
    return null
  }
}
