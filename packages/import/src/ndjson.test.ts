import { expect, test } from 'vitest'
import { collect, memorySource, START } from '../test/sources.ts'
import { readNdjson } from './formats.ts'
import { MAX_ENTRY_BYTES } from './source.ts'

const lines = (content: string | Buffer, chunkBytes?: number) => collect(readNdjson(memorySource(content, chunkBytes), START))

test.each([1, 2, 3, 5, 1000])('lines are the same in chunks of %i bytes', async (chunkBytes) => {
  expect(await lines('{"a":1}\n\n  \t\r\n{"b":"é"}\r\n{"c":3}', chunkBytes)).toEqual([
    { line: 1, end: 8, text: '{"a":1}' },
    { line: 4, end: 26, text: '{"b":"é"}\r' },
    { line: 5, end: 33, text: '{"c":3}' },
  ])
})

test('an empty source has no lines', async () => {
  expect(await lines('')).toEqual([])
  expect(await lines('\n\n')).toEqual([])
})

test('reading goes on from where an entry ended', async () => {
  const source = memorySource('{"a":1}\n\n{"b":2}\n{"c":3}\n')
  expect(await collect(readNdjson(source, { bytes: 17, line: 3, entries: 2 }))).toEqual([{ line: 4, end: 25, text: '{"c":3}' }])
})

test('a byte order mark counts as read', async () => {
  const source = { ...memorySource('{}\n'), mark: { bytes: 3, encoding: 'utf-8' } }
  expect(await collect(readNdjson(source, START))).toEqual([{ line: 1, end: 6, text: '{}' }])
})

test('a line of just the limit is read; one byte more is reported, and the next line read', async () => {
  const longest = `"${'x'.repeat(MAX_ENTRY_BYTES - 2)}"`
  const [entry] = (await lines(`${longest}\n`)) as { text: string }[]
  expect(entry?.text.length).toBe(MAX_ENTRY_BYTES)
  const end = MAX_ENTRY_BYTES + 2
  expect(await lines(`${longest}x\n{}`)).toEqual([
    { line: 1, end, problem: 'the record is longer than 8388608 bytes' },
    { line: 2, end: end + 2, text: '{}' },
  ])
})
