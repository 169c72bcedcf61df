import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CryptoKey, importJWK, type JWK } from 'jose'
import { expect, test } from 'vitest'
import type { EncryptedMessage } from '../../envelope.ts'
import { decryptMessage, encryptMessage } from './encryption.ts'

/** docs/encryption.md shows a stranger's client: it is taken out of the page and run. */
interface Stranger {
  encrypt(message: string, jwk: JWK): EncryptedMessage
  decrypt(encrypted: EncryptedMessage, jwk: JWK): string
}
const root = join(import.meta.dirname, '../../../../..')
const page = readFileSync(join(root, 'docs/encryption.md'), 'utf8')
const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? ''
const stranger: Stranger = await import(/* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
const vectors = (file: string) => JSON.parse(readFileSync(join(root, 'conformance/encryption', file), 'utf8'))
const privateJwk: JWK = vectors('keys.json').keys.find(({ kid }: JWK) => kid === 'rsa-1')
const { kty = '', n = '', e = '', kid = '', alg = '' } = privateJwk
const publicJwk = { kty, n, e, kid, alg }
const TEXT = '{"note":"名前 𝒳"}'

test('what it writes, we read', async () => {
  const key = (await importJWK(privateJwk)) as CryptoKey
  const opened = await decryptMessage(stranger.encrypt(TEXT, publicJwk), () => key, { maxCiphertextBytes: 99 })
  expect(opened.text).toBe(TEXT)
})

test.each(['A256GCM', 'A128GCM'] as const)('what we write with %s, it reads', async (enc) => {
  const encrypted = await encryptMessage({ message: TEXT, key: publicJwk, enc })
  expect(stranger.decrypt(encrypted, privateJwk)).toBe(TEXT)
})

test.each<{ name: string; encrypted: EncryptedMessage; text: string }>([
  ...vectors('rsa-oaep-256.json').valid,
  ...vectors('protected-header.json').valid,
])('it opens the vector: $name', ({ encrypted, text }) => {
  expect(stranger.decrypt(encrypted, privateJwk)).toBe(text)
})
