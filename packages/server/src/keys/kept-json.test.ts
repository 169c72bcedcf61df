import { expect, test } from 'vitest'
import { BodyClosed } from './bodies.ts'
import { parseKept } from './kept-json.ts'

test('a message is read however deep its records are', () => {
  const deep = `{"message":${'['.repeat(900)}${']'.repeat(900)}}`
  expect(JSON.stringify(parseKept(deep))).toBe(deep)
})

// An earlier version kept integers that no double holds by their digits.
test.each(['{"value":9007199254740993}', '[]', '"text"', '{"value":'])('%s is closed', (text) => {
  expect(() => parseKept(text)).toThrow(new BodyClosed('altered'))
})
