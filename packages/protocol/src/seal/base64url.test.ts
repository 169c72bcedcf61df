import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { base64urlBytes } from './base64url.ts'

test('counts the bytes of every text that an encoder writes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      expect(base64urlBytes(Buffer.from(bytes).toString('base64url'))).toBe(bytes.length)
    }),
  )
})

test('takes a text only in the spelling that an encoder gives its bytes', () => {
  const characters = fc.constantFrom(...'AQgwBEIMUYcko048Zz9_-+/= \n\u00e9')
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 12 }), (text) => {
      const again = Buffer.from(text, 'base64url').toString('base64url')
      expect(base64urlBytes(text) !== null).toBe(again === text)
    }),
    { numRuns: 2000 },
  )
})

test.each([[null], [undefined], [12], [['AA']], [{ length: 4 }]])('%j is no text', (value) => {
  expect(base64urlBytes(value)).toBeNull()
})
