import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type CryptoKey, importJWK, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'
import type { EncryptedMessage } from '../../envelope.ts'
import { parseJson } from '../../json.ts'
import { ciphertextFingerprint, decryptMessage, EncryptionProblem } from './encryption.ts'

const directory = join(import.meta.dirname, '../../../../../conformance/encryption')
const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

interface Vectors {
  clause: string
  valid: { name: string; encrypted: EncryptedMessage; text: string; fingerprint: string }[]
  invalid: { name: string; encrypted: unknown; step: string }[]
}

const keys = new Map<string, CryptoKey>()
for (const jwk of (read(join(directory, 'keys.json')) as { keys: (JWK & { kid: string })[] }).keys) {
  keys.set(jwk.kid, (await importJWK(jwk)) as CryptoKey)
}
const open = (encrypted: unknown) => decryptMessage(encrypted, (kid) => keys.get(kid) ?? null, { maxCiphertextBytes: 10_000 })

const files = globSync(join(directory, '*.json')).filter((path) => basename(path) !== 'keys.json')

test('every file of vectors is read', () => {
  expect(files.map((path) => basename(path)).sort()).toEqual([
    'algorithms.json',
    'content.json',
    'ecdh-es-a256kw.json',
    'form.json',
    'protected-header.json',
    'rsa-oaep-256.json',
  ])
})

describe.each(files.map((path) => ({ file: basename(path), ...(read(path) as Vectors) })))(
  '$file ($clause)',
  ({ valid, invalid }) => {
    test.each(valid)('opens: $name', async ({ encrypted, text, fingerprint }) => {
      expect(await open(encrypted)).toEqual({ text, message: parseJson(text) })
      expect(Buffer.from(await ciphertextFingerprint(encrypted)).toString('hex')).toBe(fingerprint)
    })

    test.each(invalid)('refuses: $name', async ({ encrypted, step }) => {
      const problem = await open(encrypted).catch((error: unknown) => error)
      expect(problem).toBeInstanceOf(EncryptionProblem)
      expect(problem).toMatchObject({ message: 'the encrypted message cannot be decrypted', step })
    })
  },
)
