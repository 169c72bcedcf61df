import { createPublicKey } from 'node:crypto'
import { KeyRefused } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { partnerCertificate } from '../../test/partner-certificate.ts'
import { readPublicKeyFile } from './key-file.ts'

const { jwk, pem, privatePem } = keyPair('RSA')
const pkcs1 = String(createPublicKey(pem).export({ format: 'pem', type: 'pkcs1' }))

test.each([
  ['PEM', `\n${pem}\n`],
  ['PEM of PKCS #1', pkcs1],
  ['a JWK', JSON.stringify(jwk)],
  ['a key set', ` ${JSON.stringify({ keys: [jwk] })}\n`],
])('%s', (_name, text) => expect(readPublicKeyFile(text)).toEqual([jwk]))

test('what a JWK says of itself is left to the reader of keys', () => {
  const members = { ...jwk, kid: 'one', use: 'enc', d: 'x' }
  expect(readPublicKeyFile(JSON.stringify({ keys: [members, jwk] }))).toEqual([members, jwk])
})

const NEITHER = 'the file must hold a public key in PEM, a JWK or a JWK set'
const NO_PEM = 'this PEM holds no public key of a known type: RSA, EC (P-256), Ed25519 or X25519'
test.each([
  ['', NEITHER],
  ['ssh-ed25519 AAAA', NEITHER],
  ['{"kty":"RSA","kty":"EC"}', NEITHER],
  ['{"keys":[]}', 'the key set has no keys'],
  ['{"keys":["x"]}', 'each key of a JWK set must be an object'],
  ['7', 'each key of a JWK set must be an object'],
  ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', NO_PEM],
  [`${pem}${pem}`, 'the file holds more than one key; put each into a file of its own'],
  [`${pem}${privatePem}`, 'this is a private key: its owner keeps it; register its public key (openssl pkey -in FILE -pubout)'],
  [partnerCertificate, 'this is a certificate: register the public key in it (openssl x509 -in FILE -noout -pubkey)'],
])('%j is refused', (text, message) => expect(() => readPublicKeyFile(text)).toThrow(new KeyRefused(message)))
