import { expect, test } from 'vitest'
import { BodyUnreadable, parseDecryptedBody } from './bodies.ts'

test('a message is read however deep its records are', () => {
  const deep = `{"message":${'['.repeat(900)}${']'.repeat(900)}}`
  expect(JSON.stringify(parseDecryptedBody(deep))).toBe(deep)
})

// An earlier version kept integers that no double holds by their digits.
test.each(['{"value":9007199254740993}', '[]', '"text"', '{"value":'])('%s is closed', (text) => {
  expect(() => parseDecryptedBody(text)).toThrow(new BodyUnreadable('altered'))
})
