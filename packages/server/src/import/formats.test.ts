import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { ImportError } from './entry.ts'
import { FORMATS, formatOf } from './formats.ts'

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
      new ImportError('the format is not clear: state one of ndjson, json, csv'),
    )
  },
)

test.each([
  [{}, 'CSV needs a column mapping'],
  [{ mapping: { A: 'a' }, delimiter: '"' }, 'the delimiter must be one ASCII character and not a quote'],
  [{ mapping: { A: 'a' }, delimiter: ', ' }, 'the delimiter must be one ASCII character and not a quote'],
  [{ mapping: { A: 'a' }, delimiter: '\n' }, 'the delimiter must be one ASCII character and not a quote'],
  [{ mapping: [] }, 'the column mapping is not a JSON object of column: path'],
])('CSV options %j are refused', (options, reason) => {
  expect(() => FORMATS.csv.reader(options)).toThrow(new ImportError(reason))
})
