import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { KeyRefused } from '../jwk.ts'
import { decryptionKeys, publicEncryptionKey } from './keys.ts'

let rsa: JWK
let ec: JWK

beforeAll(async () => {
  const pairs = [generateKeyPair('RSA-OAEP-256'), generateKeyPair('ECDH-ES+A256KW', { crv: 'P-256' })] as const
  const [first, second] = await Promise.all(pairs)
  rsa = { ...(await exportJWK(first.publicKey)), kid: 'rsa', alg: 'RSA-OAEP-256', use: 'enc' }
  ec = { ...(await exportJWK(second.publicKey)), kid: 'ec', alg: 'ECDH-ES+A256KW' }
})

test('reads an RSA key, whatever others may do with it', async () => {
  const ready = await publicEncryptionKey({ ...rsa, key_ops: ['verify'], ext: false, x5t: 'AA', x5u: 'https://a.example' })
  expect(ready).toMatchObject({ kid: 'rsa', alg: 'RSA-OAEP-256' })
  expect(ready.key).toMatchObject({ type: 'public', algorithm: { name: 'RSA-OAEP', modulusLength: 2048 } })
})

test.each(['P-256', 'P-384', 'P-521', 'X25519'])('reads a key on %s', async (crv) => {
  const { publicKey } = await generateKeyPair('ECDH-ES+A256KW', { crv })
  const ready = await publicEncryptionKey({ ...(await exportJWK(publicKey)), kid: 'ec', alg: 'ECDH-ES+A256KW' })
  expect(ready.key.type).toBe('public')
})

test('leaves the JWK as it was', async () => {
  const jwk = { ...rsa }
  await publicEncryptionKey(jwk)
  expect(jwk).toEqual(rsa)
  expect(Object.isFrozen(jwk)).toBe(false)
})

/** An RSA key of so many bits: only its size is looked at, so any odd number will do. */
const modulus = (bits: number) => Buffer.alloc(bits / 8, 0xff).toString('base64url')
const SHAPE = 'kty: the key is not of a type and shape that its alg works with'
const KID = 'kid: must be a text of 1 to 256 characters'

describe('refuses', () => {
  test.each<[string, () => Record<string, unknown>, string]>([
    ['no kid', () => ({ ...rsa, kid: undefined }), KID],
    ['an empty kid', () => ({ ...rsa, kid: '' }), KID],
    ['a long kid', () => ({ ...rsa, kid: 'k'.repeat(257) }), KID],
    ['a kid that is a number', () => ({ ...rsa, kid: 7 }), KID],
    ['a key for signatures', () => ({ ...rsa, use: 'sig' }), 'use: must be enc'],
    ['a private key', () => ({ ...rsa, d: 'AQ' }), 'the key is private; a receiver gives its public key only'],
    [
      'a symmetric key',
      () => ({ kty: 'oct', k: 'AQ', kid: 'o', alg: 'dir' }),
      'the key is private; a receiver gives its public key only',
    ],
    ['no alg', () => ({ ...rsa, alg: undefined }), 'alg: must be RSA-OAEP-256 or ECDH-ES+A256KW, and fit the key'],
    ['RSA-OAEP', () => ({ ...rsa, alg: 'RSA-OAEP' }), 'alg: must be RSA-OAEP-256 or ECDH-ES+A256KW, and fit the key'],
    ['RSA1_5', () => ({ ...rsa, alg: 'RSA1_5' }), 'alg: must be RSA-OAEP-256 or ECDH-ES+A256KW, and fit the key'],
    [
      'a name that every object has',
      () => ({ ...rsa, alg: 'toString' }),
      'alg: must be RSA-OAEP-256 or ECDH-ES+A256KW, and fit the key',
    ],
    ['an alg of another key type', () => ({ ...rsa, alg: 'ECDH-ES+A256KW' }), SHAPE],
    ['an EC key with the alg of RSA', () => ({ ...ec, alg: 'RSA-OAEP-256' }), SHAPE],
    ['no modulus', () => ({ ...rsa, n: undefined }), SHAPE],
    ['a modulus in plain base64', () => ({ ...rsa, n: '+/+/' }), SHAPE],
    ['a curve without a row', () => ({ ...ec, crv: 'secp256k1' }), SHAPE],
    ['a curve for signatures', () => ({ kty: 'OKP', crv: 'Ed25519', x: ec.x, kid: 'o', alg: 'ECDH-ES+A256KW' }), SHAPE],
    ['a short coordinate', () => ({ ...ec, x: 'AQ' }), SHAPE],
    ['no point of the curve', () => ({ ...ec, y: ec.x }), 'the members of the key are no public key'],
    ['1024 bits', () => ({ ...rsa, n: modulus(1024) }), 'n: must have 2048 to 8192 bits'],
    ['16384 bits', () => ({ ...rsa, n: modulus(16_384) }), 'n: must have 2048 to 8192 bits'],
    ['an exponent of 1', () => ({ ...rsa, e: 'AQ' }), 'e: must be an exponent of 3 or more and at most 64 bits'],
    ['an exponent of 1 with zeros', () => ({ ...rsa, e: 'AAAB' }), 'e: must be an exponent of 3 or more and at most 64 bits'],
    ['an exponent of 72 bits', () => ({ ...rsa, e: 'AQAAAAAAAAAB' }), 'e: must be an exponent of 3 or more and at most 64 bits'],
  ])('%s', async (_name, jwk, message) => {
    const problem = await publicEncryptionKey(jwk()).catch((error: unknown) => error)
    expect(problem).toBeInstanceOf(KeyRefused)
    expect(problem).toMatchObject({ message })
  })
})

const ed = keyPair('Ed25519')
const x = keyPair('X25519')

describe('keys to decrypt with', () => {
  test('are found by their kid', async () => {
    const keys = decryptionKeys([{ ...x.privateJwk, kid: 'x' }])
    expect((await keys('x'))?.algorithm.name).toBe('X25519')
    expect(await keys('y')).toBeNull()
  })

  test('are refused at their first use where a member is wrong', async () => {
    const keys = decryptionKeys([{ ...x.privateJwk, d: 'AQ', kid: 'broken' }])
    await expect(keys('broken')).rejects.toEqual(
      new KeyRefused('the key to decrypt with cannot be read: one of its members is wrong'),
    )
  })

  test.each([
    [{ ...ed.privateJwk, kid: 'e' }, 'a key to decrypt with must be of type RSA, EC or OKP'],
    [x.privateJwk, 'a key to decrypt with must have a kid'],
    [{ ...x.jwk, kid: 'x' }, 'a key to decrypt with must be private'],
  ])('are refused: %#', (jwk, message) => {
    expect(() => decryptionKeys([jwk])).toThrow(new TypeError(message))
  })
})
