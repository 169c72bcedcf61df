import { createHash, createHmac, createSecretKey } from 'node:crypto'
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

test('HMACs are those of Node.js, for keys of up to 64 bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.string({ unit: 'grapheme' }), (secret, text) => {
      const hmac = hmacSha256(createSecretKey(Buffer.from(secret)), text)
      expect(hmac).toEqual(createHmac('sha256', secret).update(text).digest())
    }),
  )
})

test('a longer key is refused', () => {
  const key = createSecretKey(Buffer.alloc(65))
  expect(() => hmacSha256(key, 'text')).toThrow(new RangeError('the key has more than 64 bytes'))
})
