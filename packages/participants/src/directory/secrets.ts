/** Secrets of 256 random bits, for clients, tokens, sessions and links. The database has only the SHA-256 of each. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Makes a new secret of 43 URL-safe characters, and the digest to store in its place. */
export function newSecret(): { secret: string; sha256: Buffer } {
  const secret = randomBytes(32).toString('base64url')
  return { secret, sha256: digestSecret(secret) }
}

/** SHA-256 of a secret. A plain digest is enough: 256 random bits leave nothing to guess. */
export function digestSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest()
}

/** True when the digest of `secret` is one of the stored ones. All are compared, each in constant time. */
export function isSecretOf(stored: readonly Buffer[], secret: string): boolean {
  const given = digestSecret(secret)
  let found = false
  for (const digest of stored) {
    if (digest.length === given.length && timingSafeEqual(digest, given)) found = true
  }
  return found
}
