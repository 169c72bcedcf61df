import { expect, test } from 'vitest'
import { BodyUnreadable, parsePersistedMessage } from './bodies.ts'

test('a message is read however deep its records are', () => {
  const deep = `{"message":${'['.repeat(900)}${']'.repeat(900)}}`
  expect(JSON.stringify(parsePersistedMessage(deep))).toBe(deep)
})

// An earlier version kept integers that no double holds by their digits.
test.each(['{"value":9007199254740993}', '[]', '"text"', '{"value":'])('%s is closed', (text) => {
  expect(() => parsePersistedMessage(text)).toThrow(new BodyUnreadable('altered'))
})
