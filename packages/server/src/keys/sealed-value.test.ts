import { describe, expect, test } from 'vitest'
import { newMasterKey } from './master-key.ts'
import { openValue, SealError, sealValue } from './sealed-value.ts'

const master = { version: 7, key: newMasterKey() }
const place = { table: 'own_key', id: 'a' }
const plaintext = Buffer.from('a secret of some length')
const sealed = sealValue(master, 'own key', place, plaintext)
const MOVED = 'a sealed value of own_key was altered, moved, or sealed with another master key'

test('opens in its own place', () => {
  expect(openValue(master, 'own key', place, sealed)).toEqual(plaintext)
  expect(openValue(master, 'own key', place, new Uint8Array(sealed))).toEqual(plaintext)
  expect(openValue(master, 'own key', place, sealValue(master, 'own key', place, Buffer.alloc(0)))).toEqual(
    Buffer.alloc(0),
  )
})

test('begins with the version of its master key, shows nothing of the secret, is never the same twice', () => {
  expect(sealed[0]).toBe(7)
  expect(sealed).toHaveLength(1 + 12 + plaintext.length + 16)
  expect(sealed.includes('secret')).toBe(false)
  expect(sealValue(master, 'own key', place, plaintext)).not.toEqual(sealed)
})

describe('does not open', () => {
  test.each([
    ['for another purpose', 'body key', place],
    ['in another row', 'own key', { ...place, id: 'b' }],
    ['in another table', 'own key', { ...place, table: 'body_key' }],
  ])('%s', (_name, purpose, context) => {
    expect(() => openValue(master, purpose, context, sealed)).toThrow(SealError)
  })

  test('where names run into each other', () => {
    const joined = sealValue(master, 'p', { table: 'ab', id: 'c' }, plaintext)
    expect(() => openValue(master, 'p', { table: 'a', id: 'bc' }, joined)).toThrow(SealError)
    expect(() => openValue(master, 'p', { table: 'a","b', id: 'c' }, joined)).toThrow(SealError)
  })

  test('with another master key', () => {
    expect(() => openValue({ version: 7, key: newMasterKey() }, 'own key', place, sealed)).toThrow(
      new SealError(MOVED),
    )
    expect(() => openValue({ ...master, version: 8 }, 'own key', place, sealed)).toThrow(
      new SealError('not a value of this master key'),
    )
  })

  test('with any byte changed', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed)
      altered[at] = (altered[at] ?? 0) ^ 1
      expect(() => openValue(master, 'own key', place, altered), `byte ${at}`).toThrow(SealError)
    }
  })

  test('cut short or drawn out', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => openValue(master, 'own key', place, sealed.subarray(0, length))).toThrow(SealError)
    }
    expect(() => openValue(master, 'own key', place, Buffer.concat([sealed, Buffer.of(0)]))).toThrow(
      new SealError(MOVED),
    )
  })
})
