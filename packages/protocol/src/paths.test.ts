import { expect, test } from 'vitest'
import { pathText } from './paths.ts'

test.each([
  [[], ''],
  [['message', 'search_request', 3, 'locale'], 'message.search_request[3].locale'],
  [[0, 'a'], '[0].a'],
  [['record', '@type'], 'record.@type'],
  [['record', 'spdci:identifier', 0], 'record.spdci:identifier[0]'],
  [['a', 'two words', 'b'], 'a["two words"].b'],
  [['a', ''], 'a[""]'],
  [['a', 'line\nend\ud800'], 'a["line\\nend\\ud800"]'],
])('%j', (steps, expected) => {
  expect(pathText(steps)).toBe(expected)
})

test('a long name is cut', () => {
  expect(pathText(['n'.repeat(10_000)])).toBe(`["${'n'.repeat(64)}"]`)
})

test('a long path is cut, so that the rule after it is still told', () => {
  expect(pathText(Array.from({ length: 10_000 }, () => 0))).toMatch(/^(\[0\]){134}\.\.\.$/)
  expect(pathText(Array.from({ length: 10_000 }, () => 'n'.repeat(90))).length).toBeLessThan(500)
})
