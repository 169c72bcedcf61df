import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256 } from './sha256.ts'

test('digests of bytes and texts are those of Node.js', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array()), (content) => {
      expect(sha256(content)).toEqual(createHash('sha256').update(content).digest())
    }),
  )
})
