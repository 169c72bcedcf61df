import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { algorithmOfJwk, importSigningKey, importVerifyingKey, type Jwk, KeyRefused } from './jwk.ts'

const pair = (keys: ReturnType<typeof generateKeyPairSync>) => ({
  public: keys.publicKey.export({ format: 'jwk' }) as Jwk,
  private: keys.privateKey.export({ format: 'jwk' }) as Jwk,
})
const rsa = (modulusLength: number, publicExponent = 65537) => pair(generateKeyPairSync('rsa', { modulusLength, publicExponent }))
const keys = {
  EdDSA: pair(generateKeyPairSync('ed25519')),
  ES256: pair(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  RS256: rsa(2048),
}

describe.each(['EdDSA', 'ES256', 'RS256'] as const)('%s', (algorithm) => {
  const { public: publicJwk, private: privateJwk } = keys[algorithm]

  test('is known by kty and crv', () => {
    expect(algorithmOfJwk(publicJwk)).toBe(algorithm)
  })

  test('a public key verifies and a private key signs, whatever else the JWK says of itself', async () => {
    const verifying = await importVerifyingKey({ ...publicJwk, use: 'enc', key_ops: ['encrypt'] }, algorithm)
    expect([verifying.type, verifying.usages]).toEqual(['public', ['verify']])
    const signing = await importSigningKey({ ...privateJwk, kid: 'k', alg: 'x', ext: false }, algorithm)
    expect([signing.type, signing.usages, signing.extractable]).toEqual(['private', ['sign'], false])
  })

  test('a private key is no public key, and a public one no private', async () => {
    const rule = new KeyRefused('this is a private key; a public key is expected')
    await expect(importVerifyingKey(privateJwk, algorithm)).rejects.toThrow(rule)
    await expect(importVerifyingKey({ ...publicJwk, k: 'AAAA' }, algorithm)).rejects.toThrow(rule)
    await expect(importSigningKey(publicJwk, algorithm)).rejects.toThrow(
      new KeyRefused('this is a public key; a private key is expected'),
    )
  })
})

test('a key of another algorithm is refused', async () => {
  const rule = new KeyRefused('the key is for another algorithm')
  await expect(importVerifyingKey(keys.EdDSA.public, 'ES256')).rejects.toThrow(rule)
  const p384 = pair(generateKeyPairSync('ec', { namedCurve: 'P-384' })).public
  expect(algorithmOfJwk(p384)).toBeNull()
  await expect(importVerifyingKey(p384, 'ES256')).rejects.toThrow(rule)
  expect(algorithmOfJwk({ kty: 'oct', k: 'AAAA' })).toBeNull()
})

test('a broken key is refused', async () => {
  const rule = new KeyRefused('the key cannot be read: one of its members is wrong')
  await expect(importVerifyingKey({ ...keys.EdDSA.public, x: 'AAAA' }, 'EdDSA')).rejects.toThrow(rule)
  await expect(importVerifyingKey({ ...keys.ES256.public, y: keys.ES256.public.x ?? '' }, 'ES256')).rejects.toThrow(rule)
  await expect(importSigningKey({ kty: 'OKP', crv: 'Ed25519', d: '' }, 'EdDSA')).rejects.toThrow(rule)
})

test('a weak RSA key is refused', async () => {
  await expect(importVerifyingKey(rsa(1024).public, 'RS256')).rejects.toThrow(
    new KeyRefused('an RSA key must have 2048 to 8192 bits; make a new key, such as with openssl genpkey -algorithm ed25519'),
  )
  await expect(importVerifyingKey(rsa(2048, 3).public, 'RS256')).rejects.toThrow(
    new KeyRefused('the public exponent of an RSA key must be 65537'),
  )
})

describe('an Ed25519 key of small order is refused', () => {
  test.each([
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  ])('%s', async (hex) => {
    expect(eightTimes(hex)).toEqual([0n, 1n])
    const x = Buffer.from(hex, 'hex').toString('base64url')
    await expect(importVerifyingKey({ kty: 'OKP', crv: 'Ed25519', x }, 'EdDSA')).rejects.toThrow(
      new KeyRefused('this key is unsafe: signatures that nobody made would verify with it; make a new key'),
    )
  })

  test('and no honest one is of small order', () => {
    const x = Buffer.from(keys.EdDSA.public.x ?? '', 'base64url')
    expect(eightTimes(x.toString('hex'))).not.toEqual([0n, 1n])
  })
})

/** The curve of RFC 8032, 5.1: eight times the point with this encoding; [0, 1] is the neutral one. */
function eightTimes(hex: string): readonly [bigint, bigint] {
  const p = 2n ** 255n - 19n
  const mod = (n: bigint) => ((n % p) + p) % p
  const power = (base: bigint, exponent: bigint): bigint => {
    if (exponent === 0n) return 1n
    const half = power(mod(base * base), exponent / 2n)
    return exponent % 2n === 0n ? half : mod(half * base)
  }
  const inverse = (n: bigint) => power(mod(n), p - 2n)
  const d = mod(-121665n * inverse(121666n))
  const y = mod(BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex')}`) % 2n ** 255n)
  const square = mod((y * y - 1n) * inverse(d * y * y + 1n))
  const root = power(square, (p + 3n) / 8n)
  const x = mod(root * root) === square ? root : mod(root * power(2n, (p - 1n) / 4n))
  const twice = ([x, y]: readonly [bigint, bigint]): readonly [bigint, bigint] => {
    const k = mod(d * x * x * y * y)
    return [mod(2n * x * y * inverse(1n + k)), mod((y * y + x * x) * inverse(1n - k))]
  }
  return twice(twice(twice([x, y])))
}
