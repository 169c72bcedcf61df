/** The SHA-256 of a file, as its envelope promises it and as it comes. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { RequestFault } from '@rollcall/protocol'

/**
 * The bytes of a digest in hexadecimal or base64url; null where there is none.
 * @throws RequestFault err.request.bad
 */
export function readDigest(value: unknown): Buffer | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string') {
    if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex')
    if (/^[\w-]{43}=?$/.test(value)) return Buffer.from(value, 'base64url')
  }
  throw new RequestFault(
    'err.request.bad',
    'message.file_sha256: must be the SHA-256 of the file, in hexadecimal or base64url',
  )
}

export class FileDigest {
  readonly #hash = createHash('sha256')

  add(bytes: Buffer): void {
    this.#hash.update(bytes)
  }

  /**
   * The digest in hexadecimal.
   * @param expected null: nothing was promised
   * @throws RequestFault err.signature.invalid: this is not the file that the envelope speaks of
   */
  end(expected: Buffer | null): string {
    const digest = this.#hash.digest()
    if (expected === null || timingSafeEqual(digest, expected)) return digest.toString('hex')
    throw new RequestFault('err.signature.invalid', 'message.file_sha256: must be the SHA-256 of the file')
  }
}
