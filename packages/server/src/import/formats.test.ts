import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { FORMATS, formatOf } from './formats.ts'
import { ImportError } from './source.ts'

test.each([
  ['a/people.ndjson', 'ndjson'],
  ['people.JSONL', 'ndjson'],
  ['people.json', 'json'],
  ['people.v2.csv', 'csv'],
])('%s is read as %s', (path, format) => {
  expect(formatOf(path, undefined)).toBe(format)
})

test('a format that is stated counts more than an extension', () => {
  expect(formatOf('people.json', 'ndjson')).toBe('ndjson')
  expect(formatOf(Readable.from([]), 'csv')).toBe('csv')
})

test.each([['people.txt'], ['people'], [Readable.from([])]])(
  '%# without a known extension is refused',
  (source) => {
    expect(() => formatOf(source, undefined)).toThrow(
      new ImportError(
        'the name of the file does not tell its format; add --format with one of ndjson, json, csv',
      ),
    )
  },
)

const NO_MAPPING =
  'a CSV file needs a column mapping: add --map columns.json, a file such as ' +
  '{"name.given_name": "Given name", "identifier[UIN]": "Number"}'

test.each([
  [{}, NO_MAPPING],
  [{ mapping: { a: 'A' }, encoding: 'none' }, expect.stringContaining('there is no encoding none; ')],
  [
    { mapping: { a: 'A' }, delimiter: '"' },
    "--delimiter must be one ASCII character other than a quotation mark, such as ';'",
  ],
  [
    { mapping: { a: 'A' }, delimiter: ', ' },
    "--delimiter must be one ASCII character other than a quotation mark, such as ';'",
  ],
  [
    { mapping: { a: 'A' }, delimiter: '\n' },
    "--delimiter must be one ASCII character other than a quotation mark, such as ';'",
  ],
  [{ mapping: [] }, expect.stringContaining('the column mapping must be a JSON object such as {')],
])('CSV options %j are refused', (options, reason) => {
  expect(() => FORMATS.csv.reader(options)).toThrow(
    expect.objectContaining({ name: 'ImportError', message: reason }),
  )
})

test.each(['json', 'ndjson'] as const)('%s has no other encoding than UTF-8', (format) => {
  expect(() => FORMATS[format].reader({ encoding: 'windows-1252' })).toThrow(
    new ImportError(
      '--encoding is for CSV, and JSON must be UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE',
    ),
  )
})
