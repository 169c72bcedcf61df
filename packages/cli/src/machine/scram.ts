/** The form in which PostgreSQL stores a password (RFC 5802, RFC 7677): no SQL and no log has the password. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

/** The number of iterations that PostgreSQL uses by default. */
const ITERATIONS = 4_096

/** Computes the form in which PostgreSQL stores a password, as text for `password` in SQL. */
export function scramVerifier(password: string, salt: Uint8Array = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const server = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${Buffer.from(salt).toString('base64')}$${stored}:${server}`
}
