import { createPublicKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { keyPair } from '../../test/key-pairs.ts'
import { partnerCertificate } from '../../test/partner-certificate.ts'
import { readKeyFile } from './key-file.ts'
import { KeyRefused } from './public-key.ts'

const { jwk, pem, privatePem } = keyPair('RSA')
const pkcs1 = String(createPublicKey(pem).export({ format: 'pem', type: 'pkcs1' }))

test.each([
  ['PEM', `\n${pem}\n`],
  ['PEM of PKCS #1', pkcs1],
  ['a JWK', JSON.stringify(jwk)],
  ['a key set', ` ${JSON.stringify({ keys: [jwk] })}\n`],
])('%s', (_name, text) => expect(readKeyFile(text)).toEqual([jwk]))

test('what a JWK says of itself is left to the reader of keys', () => {
  const members = { ...jwk, kid: 'one', use: 'enc', d: 'x' }
  expect(readKeyFile(JSON.stringify({ keys: [members, jwk] }))).toEqual([members, jwk])
})

const NEITHER = 'this is neither a public key in PEM nor a JWK nor a JWK set'
const NO_PEM = 'this is no public key in PEM of a type that is known here'
test.each([
  ['', NEITHER],
  ['ssh-ed25519 AAAA', NEITHER],
  ['{"kty":"RSA","kty":"EC"}', NEITHER],
  ['{"keys":[]}', 'the key set is empty'],
  ['{"keys":["x"]}', 'a JWK is an object'],
  ['7', 'a JWK is an object'],
  ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', NO_PEM],
  [`${pem}${pem}`, 'the file holds more than one key; give them one by one'],
  [
    `${pem}${privatePem}`,
    'this is a private key: its owner keeps it, and registers the public half only (openssl pkey -in file -pubout)',
  ],
  [
    partnerCertificate,
    'this is a certificate: register the public key in it (openssl x509 -in file -noout -pubkey)',
  ],
])('%j is refused', (text, message) => expect(() => readKeyFile(text)).toThrow(new KeyRefused(message)))
