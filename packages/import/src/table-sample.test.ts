import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readTableSample } from './table-sample.ts'

test('a stream is read as a file is: in pieces, and without its byte order mark', async () => {
  const pieces = ['\uFEFFUIN;Na', 'me\n1;Asha\n', '2;Daniel\n'].map((piece) => Buffer.from(piece))
  expect(await readTableSample(Readable.from(pieces))).toEqual({
    header: ['UIN', 'Name'],
    rows: [
      ['1', 'Asha'],
      ['2', 'Daniel'],
    ],
    leftOut: [],
    delimiter: ';',
    encoding: 'utf-8',
    whole: true,
  })
})

test('of a long stream only the beginning is read', async () => {
  let given = 0
  const row = Buffer.from(`1,${'a'.repeat(99_997)}\n`)
  const pieces = function* (): Generator<Buffer> {
    yield Buffer.from('UIN,Name\n')
    for (; given < 1_000; given += 1) yield row
  }
  const { whole, rows } = await readTableSample(Readable.from(pieces()))
  expect(whole).toBe(false)
  expect(rows.length).toBeGreaterThan(80)
  expect(given).toBeLessThan(1_000)
})

test('an empty stream is refused', async () => {
  await expect(readTableSample(Readable.from([]))).rejects.toThrow('the file has no header line')
})

test.each(['\\t', '', '"'])('the delimiter %j is refused, as an import refuses it', async (delimiter) => {
  await expect(readTableSample(Readable.from([Buffer.from('a\tb\n')]), { delimiter })).rejects.toThrow(
    "--delimiter must be one ASCII character other than a quotation mark, such as ';'",
  )
})

test('a file whose lines end with carriage returns alone is refused', async () => {
  await expect(readTableSample(Readable.from([Buffer.from('UIN,Name\r1,Asha\r2,Daniel\r')]))).rejects.toThrow(
    'the lines of the file end with carriage returns alone: end each line with a line feed',
  )
})
