import { expect, test } from 'vitest'
import { memorySource } from '../test/sources.ts'
import { convertToUtf8, createDecoder, findSourceEncoding } from './encoding.ts'
import { ImportError } from './source.ts'

async function text(bytes: Buffer, encoding: string, chunkBytes = 1): Promise<string> {
  const pieces: Buffer[] = []
  for await (const chunk of convertToUtf8(memorySource(bytes, chunkBytes), encoding).chunks(0)) pieces.push(chunk)
  return Buffer.concat(pieces).toString()
}

test.each([
  ['windows-1252', Buffer.from([0xc9, 0x6c, 0x6f, 0x80]), 'Élo€'],
  ['latin1', Buffer.from([0xe9]), 'é'],
  ['iso-8859-2', Buffer.from([0xb3, 0xf3]), 'łó'],
  ['shift_jis', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
  ['utf-16le', Buffer.from('Zoë', 'utf16le'), 'Zoë'],
])('%s, wherever its chunks end', async (encoding, bytes, expected) => {
  expect(await text(bytes, encoding)).toBe(expected)
  expect(await text(bytes, encoding, 100)).toBe(expected)
})

test.each(['utf-8', 'UTF8'])('a source in UTF-8 (%s) stays as it is, its faults included', async (encoding) => {
  const source = memorySource(Buffer.from([0xc3, 0x28]))
  expect(convertToUtf8(source, findSourceEncoding(source, encoding))).toBe(source)
})

test('what is no encoding is refused, and bytes that are not in it', async () => {
  expect(() => createDecoder('klingon')).toThrow(
    new ImportError('there is no encoding klingon; write one such as utf-8, windows-1252 (Latin-1) or iso-8859-2'),
  )
  const refusal = new ImportError('the file is not in the encoding shift_jis; name its encoding with --encoding')
  await expect(text(Buffer.from([0xff, 0xff]), 'shift_jis')).rejects.toThrow(refusal)
  await expect(text(Buffer.from([0x93]), 'shift_jis')).rejects.toThrow(refusal)
})

test.each([
  ['Zoe', 'utf-8'],
  [Buffer.from('Zoé, Amélie'), 'utf-8'],
  [Buffer.from('Zoé, Amélie').subarray(0, 4), 'utf-8'],
  [Buffer.concat([Buffer.from('Zoé, Amélie, Noël'), Buffer.from([0xff])]), 'utf-8'],
  [Buffer.from('Zoé, Amélie', 'latin1'), 'windows-1252'],
  [Buffer.from([0x5a, 0x80]), 'windows-1252'],
])('text %# is found to be in %s', (content, encoding) => {
  expect(findSourceEncoding(memorySource(content), undefined)).toBe(encoding)
})

test('what is named counts more than what is found, and a byte order mark more than the text', () => {
  const source = memorySource(Buffer.from('Zoé', 'latin1'))
  expect(findSourceEncoding(source, 'latin2')).toBe('iso-8859-2')
  expect(findSourceEncoding({ ...source, mark: { bytes: 2, encoding: 'utf-16be' } }, undefined)).toBe('utf-16be')
})

test('zero bytes are neither', () => {
  expect(() => findSourceEncoding(memorySource(Buffer.from('Zoe', 'utf16le')), undefined)).toThrow(
    new ImportError('the file has zero bytes: if it is UTF-16 without a byte order mark, add --encoding utf-16le'),
  )
})
