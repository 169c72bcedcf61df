import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { DigestPrefix } from './digests.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

describe.each([
  ['on Node.js', () => {}],
  ['in a browser', () => vi.stubGlobal('process', undefined)],
])('%s', (where, prepare) => {
  test.each<[DigestPrefix, string]>([
    ['', 'sha256'],
    ['SHA-256=', 'sha256'],
    ['BLAKE-512=', 'blake2b512'],
  ])('%j is %s in base64', async (prefix, hash) => {
    prepare()
    const webCrypto = vi.spyOn(crypto.subtle, 'digest')
    const { DIGESTS, digestOf } = await import('./digests.ts')
    vi.unstubAllGlobals()
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (array) => {
        const expected = createHash(hash).update(array).digest()
        expect(await digestOf(Uint8Array.from(array), prefix)).toBe(`${prefix}${expected.toString('base64')}`)
        expect([...(await DIGESTS[prefix](Uint8Array.from(array)))]).toEqual([...expected])
      }),
      { numRuns: 30 },
    )
    expect(webCrypto.mock.calls.length > 0).toBe(where === 'in a browser' && hash === 'sha256')
    webCrypto.mockRestore()
  })
})
