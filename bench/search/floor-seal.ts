/** The signatures of floors: one Ed25519 signature each time, as ours, and no digest. */
import { createHash, generateKeyPairSync, sign, webcrypto } from 'node:crypto'
import { askerKey } from './signing.ts'

/**
 * Verifies one signature each time it is called. As a floor takes no digest of what it was sent, it is always the
 * same one, over three lines as long as those of a message.
 */
export async function floorVerifier(): Promise<() => Promise<void>> {
  const digest = createHash('sha256').update('a message').digest('base64')
  const content = Buffer.from(`(created): 1770110100\n(expires): 1770110400\ndigest: ${digest}`)
  const { privateKey, publicJwk } = askerKey()
  const value = sign(null, content, privateKey)
  const key = await webcrypto.subtle.importKey('jwk', publicJwk, 'Ed25519', false, ['verify'])
  return async () => {
    const verified = await webcrypto.subtle.verify('Ed25519', key, value, content)
    if (!verified) throw new Error('the signature does not verify')
  }
}

/** Signs a text, on the thread that asks as ours does; answers the signature in base64. */
export function floorSigner(): (text: string) => string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return (text) => sign(null, Buffer.from(text), privateKey).toString('base64')
}
