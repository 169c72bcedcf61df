import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { readPrivateKey, readPublicKeys } from './private-key.ts'

const pair = keyPair('Ed25519')
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-keys-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function file(text: string): Promise<string> {
  const path = join(folder, 'key')
  await writeFile(path, text)
  return path
}

test.each<[string, string, string | undefined]>([
  ['PEM with a name', pair.privatePem, 'k-1'],
  ['a JWK with a name of its own', JSON.stringify({ ...pair.privateJwk, kid: 'k-1' }), undefined],
  ['a JWK under another name', JSON.stringify({ ...pair.privateJwk, kid: 'other' }), 'k-1'],
])('%s', async (_name, text, kid) => {
  expect(await readPrivateKey(await file(text), kid)).toEqual({ ...pair.privateJwk, kid: 'k-1' })
})

const PUBLIC = /holds a public key: give the file with the private key that belongs to it$/

test.each<[string, string, RegExp]>([
  ['PEM without a name', pair.privatePem, /^the key in \S+ has no kid; give the kid by which the registry knows it/],
  ['a public key', JSON.stringify({ ...pair.jwk, kid: 'k' }), PUBLIC],
  ['a public PEM', pair.pem, PUBLIC],
  [
    'a private PEM with a passphrase',
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----',
    /^the private key in .* cannot be read; remove its passphrase, if it has one: openssl pkey -in FILE -out NEW-FILE$/,
  ],
  ['a set of keys', JSON.stringify({ keys: [pair.jwk] }), /must hold a private key, in PEM or as a JWK$/],
  ['no key', 'ssh-ed25519', /^the key file .* is neither PEM nor JSON: /],
])('%s is refused', async (_name, text, message) => {
  await expect(readPrivateKey(await file(text), undefined)).rejects.toThrow(message)
})

test('public keys are a set or one', async () => {
  const { jwk } = pair
  expect(await readPublicKeys(await file(JSON.stringify({ keys: [jwk, jwk] })))).toEqual({ keys: [jwk, jwk] })
  expect(await readPublicKeys(await file(JSON.stringify(jwk)))).toEqual({ keys: [jwk] })
  for (const value of [pair.privateJwk, { keys: [] }, { keys: ['x'] }, { kty: 'oct', k: 'AA' }]) {
    const reading = readPublicKeys(await file(JSON.stringify(value)))
    await expect(reading).rejects.toThrow(/must hold public keys: a JWK set, or one JWK$/)
  }
})
