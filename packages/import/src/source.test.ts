import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ImportError, type ImportSource, openSource } from './source.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-source-'))
})
afterAll(() => rm(directory, { recursive: true }))

async function file(content: string | Buffer): Promise<string> {
  const path = join(directory, `${Math.random()}.ndjson`)
  await writeFile(path, content)
  return path
}

async function text(source: ImportSource, offset = 0): Promise<string> {
  const pieces: Buffer[] = []
  for await (const chunk of source.chunks(offset)) pieces.push(chunk)
  await source.close()
  return Buffer.concat(pieces).toString()
}

test('a file is read from any offset and knows its length', async () => {
  const path = await file('abcdef')
  expect(await text(await openSource(path))).toBe('abcdef')
  const source = await openSource(path)
  expect(source.totalBytes).toBe(6)
  expect(await text(source, 4)).toBe('ef')
})

test('the identity changes with the content, the length and the time of change, and with nothing else', async () => {
  const path = await file('one')
  const identity = async () => {
    const source = await openSource(path)
    await source.close()
    return source.identity
  }
  await utimes(path, 1, 1)
  const first = await identity()
  expect(await identity()).toBe(first)
  await utimes(path, 1, 2)
  expect(await identity()).not.toBe(first)
  await writeFile(path, 'two')
  await utimes(path, 1, 1)
  expect(await identity()).not.toBe(first)
})

test('a stream in chunks of one byte is known by its first bytes as a file is', async () => {
  const archive = Buffer.from('PK\u0003\u0004 and more')
  const bytes = Array.from(archive, (_, at) => archive.subarray(at, at + 1))
  await expect(openSource(Readable.from(bytes))).rejects.toThrow(ImportError)
  const source = await openSource(Readable.from(['na', 'me;', 'day\n']))
  expect(source.head.toString()).toBe('name;day\n')
  await source.close()
})

test('a byte order mark is left out, of a file and of a stream, wherever its chunks end', async () => {
  const marked = Buffer.from('\ufeffabc')
  const source = await openSource(await file(marked))
  expect(source.mark).toEqual({ bytes: 3, encoding: 'utf-8' })
  expect(await text(source)).toBe('abc')
  const bytes = Array.from(marked, (_, at) => marked.subarray(at, at + 1))
  expect(await text(await openSource(Readable.from(bytes)))).toBe('abc')
  expect(await text(await openSource(Readable.from([Buffer.from('a')])))).toBe('a')
  expect(await text(await openSource(Readable.from(['text', ' pieces'])))).toBe('text pieces')
})

test('a stream has no identity and no length', async () => {
  expect(await openSource(Readable.from(['x']))).toMatchObject({ identity: null, totalBytes: null })
})

test.each([
  ['utf-16le', Buffer.from('\ufeff{}', 'utf16le')],
  ['utf-16be', Buffer.from('\ufeff{}', 'utf16le').swap16()],
])('the byte order mark of %s is known and left out', async (encoding, bytes) => {
  for (const source of [await openSource(await file(bytes)), await openSource(Readable.from([bytes]))]) {
    expect(source.mark).toEqual({ bytes: 2, encoding })
    expect(await text(source)).toBe(bytes.subarray(2).toString())
  }
})

const zip = (name: string) => Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), Buffer.from(`.... ${name}`)])
const SAVE = 'open it and save its sheet as a file of the type "CSV UTF-8", then import that file'

test.each([
  [zip('[Content_Types].xml'), `the file is an Excel workbook (.xlsx): ${SAVE}`],
  [
    zip('mimetypeapplication/vnd.oasis.opendocument.spreadsheet'),
    'the file is a spreadsheet (.ods): open it and save its sheet as "Text CSV" with the character set UTF-8, then import that file',
  ],
  [zip('people.csv'), 'the file is a zip archive: unpack it first, with unzip'],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0]), `the file is an Excel workbook (.xls): ${SAVE}`],
  [Buffer.from([0x1f, 0x8b, 8, 0]), 'the file is compressed with gzip: unpack it first, with gunzip'],
  [Buffer.from('%PDF-1.7'), 'the file is a PDF, which has no records: ask for the table as CSV, from where it was made'],
])('what is no text is refused with what to do (%#)', async (bytes, message) => {
  await expect(openSource(await file(bytes))).rejects.toThrow(new ImportError(message))
  await expect(openSource(Readable.from([bytes]))).rejects.toThrow(new ImportError(message))
})

test('what cannot be read is refused by its reason', async () => {
  const path = join(directory, 'no-such-file')
  await expect(openSource(path)).rejects.toThrow(new ImportError(`the file ${path} cannot be read: no such file or directory`))
  await expect(openSource(directory)).rejects.toThrow(new ImportError(`${directory} is a folder; name a file in it`))
})
