import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Bytes, base64urlByteCount, fromBase64, fromBase64Url } from './base64.ts'

const bytes = (buffer: Uint8Array): Bytes => Uint8Array.from(buffer)

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

describe.each([
  ['on Node.js', () => {}],
  ['in a browser', () => vi.stubGlobal('process', undefined)],
])('%s', (where, prepare) => {
  test('writes what Node writes and reads it back, and text as UTF-8', async () => {
    prepare()
    const written = vi.spyOn(globalThis, 'btoa')
    const { toBase64, toBase64Url, utf8Bytes } = await import('./base64.ts')
    vi.unstubAllGlobals()
    toBase64(bytes(Buffer.from('as this platform does it')))
    expect(written).toHaveBeenCalledTimes(where === 'in a browser' ? 1 : 0)
    written.mockRestore()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (array) => {
        const content = bytes(array)
        expect(toBase64(content)).toBe(Buffer.from(array).toString('base64'))
        expect(toBase64(content.subarray(1))).toBe(Buffer.from(array.slice(1)).toString('base64'))
        expect(toBase64Url(content)).toBe(Buffer.from(array).toString('base64url'))
        expect(fromBase64(toBase64(content))).toEqual(content)
        expect(fromBase64Url(toBase64Url(content))).toEqual(content)
      }),
      { numRuns: 50 },
    )
    // Halves of pairs included, which no text in UTF-8 has.
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', '\ud800', '\udfff'), (text, half) => {
        expect([...utf8Bytes(text + half)]).toEqual([...new TextEncoder().encode(text + half)])
      }),
    )
  })
})

describe('takes one spelling', () => {
  test.each(['QQ', 'QQ=', 'QQ===', 'QR==', 'QUE', 'QUF=', 'QUFB\n', ' QUFB', 'QU FB', 'QQ==QUFB', 'Q-_B', '=', '===='])(
    'base64 %j is refused',
    (text) => {
      expect(fromBase64(text)).toBeNull()
    },
  )

  test.each(['QQ==', 'QR', 'QUF', 'Q', 'Q+/B', 'QUFB\n', 'QUFBQ'])('base64url %j is refused', (text) => {
    expect(fromBase64Url(text)).toBeNull()
  })

  test('nothing is no bytes', () => {
    expect(fromBase64('')).toEqual(new Uint8Array())
    expect(fromBase64Url('')).toEqual(new Uint8Array())
  })
})

test('counts the bytes of every text that an encoder writes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      expect(base64urlByteCount(Buffer.from(bytes).toString('base64url'))).toBe(bytes.length)
    }),
  )
})

test('takes a text only in the spelling that an encoder gives its bytes', () => {
  const characters = fc.constantFrom(...'AQgwBEIMUYcko048Zz9_-+/= \n\u00e9')
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 12 }), (text) => {
      const again = Buffer.from(text, 'base64url').toString('base64url')
      expect(base64urlByteCount(text) !== null).toBe(again === text)
    }),
    { numRuns: 2000 },
  )
})

test.each([[null], [undefined], [12], [['AA']], [{ length: 4 }]])('%j is no text', (value) => {
  expect(base64urlByteCount(value)).toBeNull()
})
