/** SHA-256 of short contents. The buffer that Node.js makes for a digest is avoided: it costs more than the digest. */
import { hash, type KeyObject } from 'node:crypto'
import { oncePerObject } from './once-per.ts'

/** SHA-256 of bytes, or of a text in UTF-8: 32 bytes. */
export const sha256 = (content: string | Uint8Array): Buffer => Buffer.from(hash('sha256', content, 'binary'), 'latin1')

/** The bytes of one block of SHA-256. HMAC needs no further hash for a key that is not longer; others are refused. */
const BLOCK = 64

/** HMAC-SHA-256 (RFC 2104), 32 bytes. An `Hmac` of Node.js takes twice as long as its two hashes. */
export function hmacSha256(key: KeyObject, text: string): Buffer {
  const { inner, outer } = padsOf(key)
  return sha256(Buffer.concat([outer, sha256(Buffer.concat([inner, Buffer.from(text)]))]))
}

const padsOf = oncePerObject((key: KeyObject) => {
  const secret = key.export()
  if (secret.length > BLOCK) throw new RangeError(`the key has more than ${BLOCK} bytes`)
  const pad = (byte: number): Uint8Array => Buffer.alloc(BLOCK, byte).map((value, at) => value ^ (secret[at] ?? 0))
  return { inner: pad(0x36), outer: pad(0x5c) }
})
