import fc from 'fast-check'
import { expect, test } from 'vitest'
import { collect, memorySource, START } from '../test/sources.ts'
import { readJsonArray } from './json-array.ts'
import { ImportError, MAX_ENTRY_BYTES } from './source.ts'

const elements = (content: string, chunkBytes?: number, entries = 0) =>
  collect(readJsonArray(memorySource(content, chunkBytes), { ...START, entries }))

test.each([1, 2, 7, 1000])('elements are cut out with their lines, in chunks of %i bytes', async (chunkBytes) => {
  const content = ' [\n  {"a": "]},\\"{"},\n  {"b": [1, {"c": "\\\\"}]}\n ,17, "x,y" , [] ]\n'
  expect(await elements(content, chunkBytes)).toMatchObject([
    { line: 2, text: '{"a": "]},\\"{"}' },
    { line: 3, text: '{"b": [1, {"c": "\\\\"}]}' },
    { line: 4, text: '17' },
    { line: 4, text: '"x,y"' },
    { line: 4, text: '[]' },
  ])
})

test('an empty array has no elements; a bare value may be the last', async () => {
  expect(await elements('[ ]')).toEqual([])
  expect(await elements('[true]')).toMatchObject([{ text: 'true' }])
})

test('elements already consumed are passed over', async () => {
  expect(await elements('[{"a":1},{"b":2},{"c":3}]', 4, 2)).toEqual([{ line: 1, end: 24, text: '{"c":3}' }])
})

test('an element over the limit is reported and the next one read', async () => {
  const content = `[{"a":"${'x'.repeat(MAX_ENTRY_BYTES)}"},{}]`
  expect(await elements(content)).toMatchObject([
    { line: 1, problem: 'the record is longer than 8388608 bytes' },
    { line: 1, text: '{}' },
  ])
})

test('any array is cut as JSON.parse cuts it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 20 }), fc.boolean(), async (values, size, pretty) => {
      const found = (await elements(JSON.stringify(values, null, pretty ? 2 : 0), size)) as { text: string }[]
      expect(found.map(({ text }) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(values)))
    }),
    { numRuns: 200 },
  )
})

test.each([
  ['', 'the file is empty; a JSON array is expected'],
  ['{"a":1}', 'the file is not a JSON array; if it has one JSON object on each line, add --format ndjson'],
  ['[{"a":1}', 'the file ends before its JSON array ends; is it complete?'],
  ['[{"a":', 'the file ends before its JSON array ends; is it complete?'],
  ['[{}\n{}]', 'line 2: a comma or the end of the array is missing'],
  ['[{},,{}]', 'line 1: an element of the array is missing'],
  ['[{},]', 'line 1: an element of the array is missing'],
  ['[,]', 'line 1: an element of the array is missing'],
  ['[{}]\n[{}]', 'line 2: there is text after the end of the array'],
])('%j is refused', async (content, reason) => {
  await expect(elements(content)).rejects.toThrow(new ImportError(reason))
})
