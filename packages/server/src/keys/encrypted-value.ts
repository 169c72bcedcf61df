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

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16
const SMALLEST = 1 + NONCE + TAG

export function encryptValue(
  master: MasterKey,
  purpose: string,
  context: ValueContext,
  plaintext: Uint8Array,
): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv(CIPHER, keyFor(master, purpose), nonce, { authTagLength: TAG })
  cipher.setAAD(additionalData(master, purpose, context))
  const ciphertext = [cipher.update(plaintext), cipher.final()]
  return Buffer.concat([Buffer.of(master.version), nonce, ...ciphertext, cipher.getAuthTag()])
}

/** @throws DecryptionError */
export function decryptValue(
  master: MasterKey,
  purpose: string,
  context: ValueContext,
  encrypted: Uint8Array,
): Buffer {
  const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength)
  if (bytes.length < SMALLEST || bytes[0] !== master.version)
    throw new DecryptionError('not a value of this master key')
  const nonce = bytes.subarray(1, 1 + NONCE)
  const decipher = createDecipheriv(CIPHER, keyFor(master, purpose), nonce, { authTagLength: TAG })
  decipher.setAAD(additionalData(master, purpose, context))
  decipher.setAuthTag(bytes.subarray(-TAG))
  const decrypted = decipher.update(bytes.subarray(1 + NONCE, -TAG))
  try {
    return Buffer.concat([decrypted, decipher.final()])
  } catch {
    // No cause: there is nothing in it but the library's own words for the same.
    throw new DecryptionError(
      `an encrypted value of ${context.table} was altered, moved, or encrypted with another master key`,
    )
  }
}

function keyFor({ key }: MasterKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `rollcall sealed value: ${purpose}`, 32))
}

/** A JSON array: no two different places give the same bytes. */
function additionalData({ version }: MasterKey, purpose: string, { table, id }: ValueContext): Buffer {
  return Buffer.from(JSON.stringify([version, purpose, table, id]))
}
