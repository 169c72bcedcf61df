import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { memorySource, START } from '../test/sources.ts'
import { chooseFormat, chooseSourceFormat, FILE_FORMATS } from './formats.ts'
import { ImportError } from './source.ts'

test.each([
  ['a/people.ndjson', 'ndjson'],
  ['people.JSONL', 'ndjson'],
  ['people.json', 'json'],
  ['people.v2.csv', 'csv'],
])('%s is read as %s', (path, format) => {
  expect(chooseFormat(path, undefined)).toBe(format)
})

test('a format that is stated counts more than an extension', () => {
  expect(chooseFormat('people.json', 'ndjson')).toBe('ndjson')
  expect(chooseFormat(Readable.from([]), 'csv')).toBe('csv')
})

test.each([['people.txt'], ['people'], [Readable.from([])]])('%# without a known extension is refused', (source) => {
  expect(() => chooseFormat(source, undefined)).toThrow(
    new ImportError('the name of the file does not tell its format; add --format with one of ndjson, json, csv'),
  )
})

const NO_MAPPING =
  'a CSV file needs a column mapping: add --map columns.json, a file such as ' +
  '{"name.given_name": "Given name", "identifier[UIN]": "Number"}'

test.each([
  [{}, NO_MAPPING],
  [{ mapping: { a: 'A' }, encoding: 'none' }, expect.stringContaining('there is no encoding none; ')],
  [{ mapping: { a: 'A' }, delimiter: '"' }, "--delimiter must be one ASCII character other than a quotation mark, such as ';'"],
  [{ mapping: { a: 'A' }, delimiter: ', ' }, "--delimiter must be one ASCII character other than a quotation mark, such as ';'"],
  [{ mapping: { a: 'A' }, delimiter: '\n' }, "--delimiter must be one ASCII character other than a quotation mark, such as ';'"],
  [{ mapping: [] }, expect.stringContaining('the column mapping must be a JSON object such as {')],
])('CSV options %j are refused', (options, reason) => {
  expect(() => FILE_FORMATS.csv.reader(options)).toThrow(expect.objectContaining({ name: 'ImportError', message: reason }))
})

test.each(['json', 'ndjson'] as const)('%s has no other encoding than UTF-8', (format) => {
  expect(() => FILE_FORMATS[format].reader({ encoding: 'windows-1252' })).toThrow(
    new ImportError(
      '--encoding is for CSV, and JSON must be UTF-8; convert the file, such as: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE',
    ),
  )
})

test.each(['json', 'ndjson'] as const)('%s has no columns, and is never UTF-16', (format) => {
  expect(() => FILE_FORMATS[format].reader({ mapping: { sex: 'Sex' } })).toThrow(
    new ImportError('--map is for CSV: a record in JSON has its members already; leave --map out'),
  )
  const source = { ...memorySource('{}'), mark: { bytes: 2, encoding: 'utf-16le' } }
  expect(() => FILE_FORMATS[format].reader({})(source, START)).toThrow(
    new ImportError(
      'the file is in UTF-16, and JSON must be UTF-8; convert the file, such as: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE',
    ),
  )
})

test('a spreadsheet is told by its content, whatever its name', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'rollcall-formats-')), 'people.xlsx')
  await writeFile(path, Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), Buffer.from('xl/workbook.xml')]))
  await expect(chooseSourceFormat(path, undefined)).rejects.toThrow(/^the file is an Excel workbook \(\.xlsx\): open it/)
  await rm(dirname(path), { recursive: true })
})
