/** SHA-256 of short contents. */
import { hash } from 'node:crypto'

/**
 * SHA-256 of bytes, or of a text in UTF-8: 32 bytes. It avoids the buffer that Node.js makes for a digest, which costs
 * more than the digest.
 */
export const sha256 = (content: string | Uint8Array): Buffer => Buffer.from(hash('sha256', content, 'binary'), 'latin1')
