import { createHash, createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hmacSha256, sha256 } from './sha256.ts'

test('digests of bytes and texts are those of Node.js', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array()), (content) => {
      expect(sha256(content)).toEqual(createHash('sha256').update(content).digest())
    }),
  )
})

test('an HMAC is that of RFC 4231, test case 2', () => {
  const hmac = hmacSha256(createSecretKey(Buffer.from('Jefe')), 'what do ya want for nothing?')
  expect(hmac.toString('hex')).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
})
