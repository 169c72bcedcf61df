import { generateKeyPairSync, verify } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AlgorithmName } from './algorithms.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  vi.resetModules()
})

const PAIRS = {
  EdDSA: generateKeyPairSync('ed25519'),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const satisfies Record<AlgorithmName, object>
const content = new TextEncoder().encode('(created): 1767225600\n(expires): 1767225900\ndigest: 4é')

describe.each([
  ['on Node.js', () => {}],
  ['in a browser', () => vi.stubGlobal('process', undefined)],
])('%s', (where, prepare) => {
  test.each<[AlgorithmName, signed: string]>([
    ['EdDSA', where === 'on Node.js' ? 'on the spot' : 'by a thread'],
    ['ES256', 'by a thread'],
    ['RS256', 'by a thread'],
  ])('%s is signed %s, with a key that cannot be exported', async (algorithm, signed) => {
    prepare()
    const thread = vi.spyOn(crypto.subtle, 'sign')
    const { importSigningKey } = await import('../jwk.ts')
    const { signContent } = await import('./on-the-spot.ts')
    vi.unstubAllGlobals()
    const { privateKey, publicKey } = PAIRS[algorithm]
    const jwk = privateKey.export({ format: 'jwk' })
    const key = await importSigningKey({ ...jwk, kty: jwk.kty ?? '' }, algorithm)
    expect([key.extractable, Object.keys(key)]).toEqual([false, []])
    const signature = await signContent(content, key, algorithm)
    const hash = algorithm === 'EdDSA' ? null : 'sha256'
    expect(verify(hash, content, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true)
    expect(thread).toHaveBeenCalledTimes(signed === 'by a thread' ? 1 : 0)
  })
})

test('a key of WebCrypto that was not imported here is signed with by WebCrypto', async () => {
  const { signContent } = await import('./on-the-spot.ts')
  const pair = await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify'])
  const { privateKey, publicKey } = pair as Extract<typeof pair, { readonly privateKey: object }>
  const signature = await signContent(content, privateKey, 'EdDSA')
  expect(await crypto.subtle.verify({ name: 'Ed25519' }, publicKey, signature, content)).toBe(true)
})
