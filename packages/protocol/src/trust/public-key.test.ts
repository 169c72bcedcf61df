import { Buffer } from 'node:buffer'
import { generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { KeyRefused } from './jwk.ts'
import { readPublicKey } from './public-key.ts'

const pairs = { ed25519: keyPair('Ed25519'), x25519: keyPair('X25519'), p256: keyPair('P-256'), rsa: keyPair('RSA') }
const A = { sender_id: 'a.example' }

test.each([
  ['ed25519', {}, 'sig', 'EdDSA'],
  ['ed25519', { alg: 'Ed25519', use: 'sig' }, 'sig', 'EdDSA'],
  ['ed25519', { alg: 'ed25519' }, 'sig', 'EdDSA'],
  ['p256', {}, 'sig', 'ES256'],
  ['p256', { use: 'enc' }, 'enc', 'ECDH-ES+A256KW'],
  ['p256', { alg: 'ECDH-ES+A256KW' }, 'enc', 'ECDH-ES+A256KW'],
  ['rsa', {}, 'sig', 'RS256'],
  ['rsa', { use: 'enc' }, 'enc', 'RSA-OAEP-256'],
  ['rsa', { alg: 'RSA-OAEP-256' }, 'enc', 'RSA-OAEP-256'],
  ['x25519', {}, 'enc', 'ECDH-ES+A256KW'],
] as const)('%s with %j is for %s with %s', async (name, members, use, algorithm) => {
  const jwk = { ...pairs[name].jwk, ...members, kid: 'one', key_ops: ['verify'], x5u: 'https://x.example' }
  expect(await readPublicKey(jwk, A)).toEqual({
    kid: 'one',
    use,
    algorithm,
    public_jwk: pairs[name].jwk,
    thumbprint: await calculateJwkThumbprint(pairs[name].jwk as JWK),
  })
})

test('the operator says what a key leaves open', async () => {
  expect(await readPublicKey(pairs.rsa.jwk, { ...A, use: 'enc', kid: 'mine' })).toMatchObject({
    kid: 'mine',
    use: 'enc',
    algorithm: 'RSA-OAEP-256',
  })
  const { kid, thumbprint } = await readPublicKey(pairs.rsa.jwk, A)
  expect(kid).toBe(thumbprint)
})

test('every P-256 key has the thumbprint that another library makes, with short coordinates too', async () => {
  for (let count = 0; count < 300; count += 1) {
    const jwk = keyPair('P-256').jwk
    const short = Buffer.from(jwk.x ?? '', 'base64url')
    const x = short[0] === 0 ? short.subarray(1).toString('base64url') : jwk.x
    const { thumbprint } = await readPublicKey({ ...jwk, x }, A)
    expect(thumbprint).toBe(await calculateJwkThumbprint(jwk as JWK))
  }
})

test('one key has one thumbprint, however it is spelt', async () => {
  const { jwk } = pairs.rsa
  const { thumbprint } = await readPublicKey(jwk, A)
  const n = Buffer.from(jwk.n ?? '', 'base64url')
  const spellings = [Buffer.concat([Buffer.alloc(1), n]).toString('base64url'), n.toString('base64'), `${jwk.n}==`]
  for (const n of spellings) expect((await readPublicKey({ ...jwk, n }, A)).thumbprint).toBe(thumbprint)
})

describe('the kid', () => {
  const { jwk } = pairs.ed25519

  test('that is a whole kidId of its owner is shortened to the part that names the key', async () => {
    expect((await readPublicKey({ ...jwk, kid: 'a.example|one|ed25519' }, A)).kid).toBe('one')
  })

  test('of a key for encryption is left as it is', async () => {
    const kid = 'a.example|one|x'
    expect((await readPublicKey({ ...pairs.x25519.jwk, kid }, A)).kid).toBe(kid)
  })

  const PRINTABLE = 'a kid must be a text of 1 to 256 printable characters'
  const BAR = 'the kid of a key for signatures must have neither | nor ", because it is a part of kidId'
  test.each([
    ['', PRINTABLE],
    ['x'.repeat(257), PRINTABLE],
    ['a\nb', PRINTABLE],
    ['a\0', PRINTABLE],
    [7, PRINTABLE],
    ['b.example|one|ed25519', BAR],
    ['a.example|one', BAR],
    ['a.example|one|x|y', BAR],
    ['a"b', BAR],
  ])('%j is refused', async (kid, message) => {
    await expect(readPublicKey({ ...jwk, kid }, A)).rejects.toThrow(new KeyRefused(message))
  })
})

const PRIVATE = 'this is a private key: its owner keeps it; register its public key'
const NO_KEY = 'this is no public key of a known type: RSA, EC (P-256) or OKP (Ed25519, X25519)'
const NO_USE =
  'the key fits none of the algorithms of this protocol: EdDSA, ES256 and RS256 to sign, RSA-OAEP-256 and ECDH-ES+A256KW to encrypt'
const TEXTS = 'each member of a key must be a text of at most 2000 characters'
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })
const oddRsa = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }).publicKey.export({ format: 'jwk' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' })

test.each<[string, object, string]>([
  ['a private key', pairs.ed25519.privateJwk, PRIVATE],
  ['a private RSA key', pairs.rsa.privateJwk, PRIVATE],
  ['a symmetric key', { kty: 'oct', k: 'AAAA' }, PRIVATE],
  ['a key with a private member that is null', { ...pairs.ed25519.jwk, d: null }, PRIVATE],
  ['nothing', {}, NO_KEY],
  ['a key of an unknown type', { kty: 'AKP', pub: 'AAAA' }, NO_KEY],
  [
    'a point that is not on the curve',
    { ...pairs.p256.jwk, y: pairs.p256.jwk.x },
    'the key cannot be read: one of its members is wrong',
  ],
  ['a member that is no text', { ...pairs.ed25519.jwk, x: 7 }, TEXTS],
  ['an endless member', { ...pairs.rsa.jwk, n: 'x'.repeat(2_001) }, TEXTS],
  ['a key for another use', { ...pairs.rsa.jwk, use: 'verify' }, NO_USE],
  ['a key for another algorithm', { ...pairs.rsa.jwk, alg: 'PS256' }, NO_USE],
  ['an algorithm that is refused', { ...pairs.rsa.jwk, alg: 'RSA1_5' }, NO_USE],
  ['no algorithm', { ...pairs.ed25519.jwk, alg: 'none' }, NO_USE],
  ['a curve without signature algorithm', { ...p384, use: 'sig' }, NO_USE],
  [
    'a short RSA key',
    weakRsa,
    'an RSA key must have 2048 to 8192 bits; make a new key, such as with openssl genpkey -algorithm ed25519',
  ],
  ['an RSA key with another exponent', oddRsa, 'the public exponent of an RSA key must be 65537'],
  [
    'a point that verifies everything',
    { ...pairs.ed25519.jwk, x: Buffer.alloc(32).toString('base64url') },
    'this key is unsafe: signatures that nobody made would verify with it; make a new key',
  ],
])('%s is refused', async (_name, jwk, message) => {
  await expect(readPublicKey({ ...jwk }, A)).rejects.toThrow(new KeyRefused(message))
})

test('a key is not for what its JWK says it is not for', async () => {
  await expect(readPublicKey({ ...pairs.rsa.jwk, use: 'sig' }, { ...A, use: 'enc' })).rejects.toThrow(
    new KeyRefused('the JWK says that the key is not for enc; leave --use out, or register another key'),
  )
})

test('a key for signatures cannot be registered for encryption', async () => {
  await expect(readPublicKey(pairs.ed25519.jwk, { ...A, use: 'enc' })).rejects.toThrow(
    new KeyRefused('kty: the key is not of a type and shape that its alg works with'),
  )
})
