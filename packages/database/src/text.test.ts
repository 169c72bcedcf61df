import { describe, expect, test } from 'vitest'
import { StoreRefusal } from './refusal.ts'
import { checkSenderId, isTextStorable } from './text.ts'

test.each(['', 'a', 'é𝄞', '\u0001'])('%j can be stored', (text) => {
  expect(isTextStorable(text)).toBe(true)
})

test.each(['\0', 'a\0b', '\ud834', 'a\udd1e'])('%j cannot be stored', (text) => {
  expect(isTextStorable(text)).toBe(false)
})

describe('sender_id', () => {
  test.each(['spmis.demo', 'https://a.example/x?y=1', 'urn:x:1', 'Ministère', 'two words', 'x'.repeat(255)])(
    '%s may be one',
    (sender_id) => {
      expect(() => checkSenderId(sender_id)).not.toThrow()
    },
  )

  test.each([
    ['', 'sender_id is empty'],
    ['x'.repeat(256), 'sender_id is longer than 255 characters'],
    ['a|b', 'sender_id contains | or "'],
    ['a"b', 'sender_id contains | or "'],
    ['a\nb', 'sender_id contains a character that cannot be printed'],
    ['a\0b', 'sender_id contains a character that cannot be printed'],
    ['a\u200bb', 'sender_id contains a character that cannot be printed'],
    ['a\ud834', 'sender_id contains a character that cannot be printed'],
    [' a', 'sender_id begins or ends with a space'],
    ['a ', 'sender_id begins or ends with a space'],
  ])('%j may not', (sender_id, message) => {
    expect(() => checkSenderId(sender_id)).toThrow(new StoreRefusal(message))
  })

  test('the refusal names what was asked for', () => {
    expect(() => checkSenderId('', 'alias ""')).toThrow(new StoreRefusal('alias "" is empty'))
  })
})
