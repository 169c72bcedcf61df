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
