import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DigestPrefix, digestOf } from './digests.ts'

test.each<[DigestPrefix, string]>([
  ['', 'sha256'],
  ['SHA-256=', 'sha256'],
  ['BLAKE-512=', 'blake2b512'],
])('%j is %s in base64', async (prefix, hash) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (array) => {
      const expected = `${prefix}${createHash(hash).update(array).digest('base64')}`
      expect(await digestOf(Uint8Array.from(array), prefix)).toBe(expected)
    }),
    { numRuns: 30 },
  )
})
