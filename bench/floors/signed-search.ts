/**
 * The floor of a signed search: it verifies one Ed25519 signature for every request. As it takes no digest of what it
 * was sent, the signature is always the same one, over three lines as long as those of a message.
 */
import { createHash, sign, webcrypto } from 'node:crypto'
import { startFloor } from '../search/floor.ts'
import { askerKey } from '../search/signing.ts'
import { serveAsChild } from '../shared/server-process.ts'

const digest = createHash('sha256').update('a message').digest('base64')
const content = Buffer.from(`(created): 1770110100\n(expires): 1770110400\ndigest: ${digest}`)
const { privateKey, publicJwk } = askerKey()
const value = sign(null, content, privateKey)

await serveAsChild(async () => {
  const key = await webcrypto.subtle.importKey('jwk', publicJwk, 'Ed25519', false, ['verify'])
  return startFloor(async () => {
    const verified = await webcrypto.subtle.verify('Ed25519', key, value, content)
    if (!verified) throw new Error('the signature does not verify')
  })
})
