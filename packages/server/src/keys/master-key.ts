/** Master keys: 32 random bytes, which never leave a KeyObject except into the file they are kept in. */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const BYTES = 32

/** The master key is missing or wrong. The message is written for the operator and holds nothing secret. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/** A key of 32 bytes, written as base64 or base64url, with or without padding, or as hexadecimal; null: it is none. */
export function parseMasterKey(text: string): KeyObject | null {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : fromBase64(text)
  return bytes?.length === BYTES ? createSecretKey(bytes) : null
}

function fromBase64(text: string): Buffer | null {
  const url = text.replace(/=$/, '').replaceAll('+', '-').replaceAll('/', '_')
  const bytes = Buffer.from(url, 'base64url')
  // Node skips what is no base64; a key with a character missing must not become a shorter key.
  return bytes.toString('base64url') === url ? bytes : null
}

export const newMasterKey = (): KeyObject => createSecretKey(randomBytes(BYTES))

export const masterKeyText = (key: KeyObject): string => key.export().toString('base64url')
