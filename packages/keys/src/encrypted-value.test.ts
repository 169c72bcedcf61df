import { describe, expect, test } from 'vitest'
import { DecryptionError, decryptValue, encryptValue } from './encrypted-value.ts'
import { generateMasterKey } from './master-key.ts'

const master = { version: 7, key: generateMasterKey() }
const place = { table: 'own_key', id: 'a' }
const plaintext = Buffer.from('a secret of some length')
const sealed = encryptValue(master, 'own key', place, plaintext)
const MOVED = 'an encrypted value of own_key was altered, moved, or encrypted with another master key'

test('opens in its own place', () => {
  expect(decryptValue(master, 'own key', place, sealed)).toEqual(plaintext)
  expect(decryptValue(master, 'own key', place, new Uint8Array(sealed))).toEqual(plaintext)
  expect(decryptValue(master, 'own key', place, encryptValue(master, 'own key', place, Buffer.alloc(0)))).toEqual(Buffer.alloc(0))
})

test('begins with the version of its master key, shows nothing of the secret, is never the same twice', () => {
  expect(sealed[0]).toBe(7)
  expect(sealed).toHaveLength(1 + 12 + plaintext.length + 16)
  expect(sealed.includes('secret')).toBe(false)
  expect(encryptValue(master, 'own key', place, plaintext)).not.toEqual(sealed)
})

describe('does not open', () => {
  test.each([
    ['for another purpose', 'body key', place],
    ['in another row', 'own key', { ...place, id: 'b' }],
    ['in another table', 'own key', { ...place, table: 'body_key' }],
  ])('%s', (_name, purpose, context) => {
    expect(() => decryptValue(master, purpose, context, sealed)).toThrow(DecryptionError)
  })

  test('where names run into each other', () => {
    const joined = encryptValue(master, 'p', { table: 'ab', id: 'c' }, plaintext)
    expect(() => decryptValue(master, 'p', { table: 'a', id: 'bc' }, joined)).toThrow(DecryptionError)
    expect(() => decryptValue(master, 'p', { table: 'a","b', id: 'c' }, joined)).toThrow(DecryptionError)
  })

  test('with another master key', () => {
    expect(() => decryptValue({ version: 7, key: generateMasterKey() }, 'own key', place, sealed)).toThrow(
      new DecryptionError(MOVED),
    )
    expect(() => decryptValue({ ...master, version: 8 }, 'own key', place, sealed)).toThrow(
      new DecryptionError('not a value of this master key'),
    )
  })

  test('with any byte changed', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed)
      altered[at] = (altered[at] ?? 0) ^ 1
      expect(() => decryptValue(master, 'own key', place, altered), `byte ${at}`).toThrow(DecryptionError)
    }
  })

  test('cut short or drawn out', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => decryptValue(master, 'own key', place, sealed.subarray(0, length))).toThrow(DecryptionError)
    }
    expect(() => decryptValue(master, 'own key', place, Buffer.concat([sealed, Buffer.of(0)]))).toThrow(
      new DecryptionError(MOVED),
    )
  })
})
