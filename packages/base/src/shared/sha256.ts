/** SHA-256 and HMAC-SHA-256 of short contents. */
import { createHmac, hash, type KeyObject } from 'node:crypto'

/**
 * SHA-256 of bytes, or of a text in UTF-8: 32 bytes. It avoids the buffer that Node.js makes for a digest, which costs
 * more than the digest.
 */
export const sha256 = (content: string | Uint8Array): Buffer => Buffer.from(hash('sha256', content, 'binary'), 'latin1')

/** HMAC-SHA-256 of a text in UTF-8: 32 bytes. */
export const hmacSha256 = (key: KeyObject, text: string): Buffer => createHmac('sha256', key).update(text).digest()
