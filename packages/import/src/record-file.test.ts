import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRecordFile, type RecordFileOptions, type RecordOrProblem } from './record-file.ts'
import { ImportError } from './source.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-record-file-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

async function rowsOf(source: string | Readable, options: RecordFileOptions = {}): Promise<RecordOrProblem[]> {
  const file = await openRecordFile(source, options)
  const rows: RecordOrProblem[] = []
  for await (const row of file.rows()) rows.push(row)
  await file.close()
  return rows
}

test('rows of NDJSON are objects, or say what is wrong with them', async () => {
  const rows = await rowsOf(await fileOf('a.ndjson', '{"a": 1}\n\n[]\n{"SECRET\n'))
  expect(rows).toEqual([
    { line: 1, end: 9, document: { a: 1 } },
    { line: 3, end: 13, problem: 'the record must be a JSON object' },
    { line: 4, end: 22, problem: expect.stringMatching(/^not JSON/) },
  ])
  expect(JSON.stringify(rows)).not.toContain('SECRET')
})

test('rows of CSV become documents by the column mapping', async () => {
  const mapping = { 'member.member_identifier': 'number', 'member.programme_identifier': 'programme' }
  const path = await fileOf('a.csv', 'number;programme\n0012;PRG-07\n0013\n')
  expect(await rowsOf(path, { mapping, delimiter: ';' })).toEqual([
    { line: 2, end: 29, document: { member: { member_identifier: '0012', programme_identifier: 'PRG-07' } } },
    { line: 3, end: 34, problem: 'the row and the header line must have the same number of cells: they have 1 and 2' },
  ])
})

test('a mapping with duplicates is refused: the records are of another registry', async () => {
  const path = await fileOf('c.csv', 'number\n0012\n')
  const mapping = { 'member.member_identifier': 'number', duplicates: 'last' }
  await expect(rowsOf(path, { mapping })).rejects.toThrow(
    new ImportError('the column mapping of duplicates: is for an import alone; leave it out'),
  )
})

test('a stream is read as well, and rejects of a file stand beside it, from the beginning each time', async () => {
  const stream = await openRecordFile(Readable.from([Buffer.from('{}\n')]), { format: 'ndjson' })
  expect([stream.totalBytes, stream.rejectsPath]).toEqual([null, null])
  await stream.close()
  const path = await fileOf('b.ndjson', '{}\n')
  for (const line of [1, 2]) {
    const file = await openRecordFile(path)
    await file.reject([{ line, reason: 'why' }])
    await file.close()
  }
  expect(await readFile(`${path}.rejects.ndjson`, 'utf8')).toBe('{"line":2,"reason":"why"}\n')
})

test('what cannot be read as a whole is refused', async () => {
  const path = await fileOf('c.ndjson', '{}\n')
  await expect(openRecordFile(path, { rejectsPath: path })).rejects.toEqual(
    new ImportError('--rejects names the file that is imported; name another file'),
  )
  await expect(openRecordFile(join(folder, 'none.ndjson'))).rejects.toThrow(/cannot be read: no such file/)
  await expect(openRecordFile(join(folder, 'none'))).rejects.toThrow(/cannot be read: no such file/)
})
