import fc from 'fast-check'
import { expect, test } from 'vitest'
import { collect, memorySource, START } from '../test/sources.ts'
import { readColumnMapping } from './column-mapping.ts'
import { findDelimiterAndHeader, readCsv } from './csv.ts'
import { ImportError, MAX_ENTRY_BYTES } from './source.ts'

const NOT_UTF8 = 'the row is not in UTF-8; if the file is in another encoding, name it, such as --encoding windows-1252'

const mapping = readColumnMapping({ no: 'No', name: 'Name' }, null)
interface Asked {
  readonly chunkBytes?: number
  readonly entries?: number
  readonly delimiter?: string
}

async function rows(content: string | Buffer, { chunkBytes = 1000, entries = 0, delimiter }: Asked = {}) {
  const options = { mapping, ...(delimiter !== undefined && { delimiter }) }
  const found = await collect(readCsv(memorySource(content, chunkBytes), { ...START, entries }, options))
  return found.map((entry): object => ({ ...entry, cells: undefined }))
}

test.each([1, 3, 1000])('quoted cells, blank lines and CRLF, in chunks of %i bytes', async (chunkBytes) => {
  const content = 'No,Name\r\n1,"Élodie ""E"", B"\r\n\r\n2,"two\r\nlines"\r\n"3",'
  expect(await rows(content, { chunkBytes })).toEqual([
    { line: 2, end: 31, document: { no: '1', name: 'Élodie "E", B' } },
    { line: 4, end: 49, document: { no: '2', name: 'two\r\nlines' } },
    { line: 6, end: 53, document: { no: '3' } },
  ])
})

test('any cells are read as they were written', async () => {
  const cell = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', 'é', ' ') })
  const table = fc.array(fc.tuple(fc.nat().map(String), cell), { minLength: 1 })
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
  await fc.assert(
    fc.asyncProperty(table, fc.integer({ min: 1, max: 9 }), async (cells, chunkBytes) => {
      const content = ['No,Name', ...cells.map(([no, name]) => `${no},${quote(name)}`)].join('\n')
      const found = (await rows(content, { chunkBytes })) as { document: { no: string; name?: string } }[]
      expect(found.map(({ document }) => [document.no, document.name ?? ''])).toEqual(
        cells.map(([no, name]) => [no, name.trim() === '' ? '' : name]),
      )
    }),
  )
})

test('another delimiter', async () => {
  expect(await rows('Name;No\na,b;7\n', { delimiter: ';' })).toMatchObject([{ document: { name: 'a,b', no: '7' } }])
})

test.each([
  ['No;Name\n', ',', "the columns of the file are separated by semicolons; add --delimiter ';'"],
  ['"Name";No\n', ',', "the columns of the file are separated by semicolons; add --delimiter ';'"],
  ['No\tName\n', ',', "the columns of the file are separated by tabs; add --delimiter $'\\t'"],
  ['No|Name\n', ',', "the columns of the file are separated by vertical bars; add --delimiter '|'"],
  ['No,Name\n', ';', "the columns of the file are separated by commas; add --delimiter ','"],
])('a header with another delimiter %j is refused with the option that helps', async (content, delimiter, reason) => {
  await expect(rows(content, { delimiter })).rejects.toThrow(new ImportError(reason))
})

test('a bad row is reported in its place and the others are read', async () => {
  const content = Buffer.concat([
    Buffer.from('No,Name\n1,a\n2,b,c\n3\n4,"x"y\n5,z"z\n6,'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('\n7,g\n8,"open\n9,i\n'),
  ])
  const expected = [
    { line: 2, document: { no: '1', name: 'a' } },
    { line: 3, problem: 'the row and the header line must have the same number of cells: they have 3 and 2' },
    { line: 4, problem: 'the row and the header line must have the same number of cells: they have 1 and 2' },
    { line: 5, problem: 'text after the closing quote of a cell' },
    { line: 6, document: { no: '5', name: 'z"z' } },
    { line: 7, problem: NOT_UTF8 },
    { line: 8, document: { no: '7', name: 'g' } },
    { line: 9, problem: 'a quote is never closed' },
  ]
  expect(await rows(content)).toMatchObject(expected)
  expect(await rows(content, { chunkBytes: 1 })).toMatchObject(expected)
  // Entries that a resumed import skips are counted in the same way.
  expect(await rows(content, { entries: 4 })).toMatchObject(expected.slice(4))
  expect(await rows(content, { entries: 8 })).toEqual([])
})

test('a header alone, or nothing at all, has no rows', async () => {
  expect(await rows('No,Name\n')).toEqual([])
  expect(await rows('')).toEqual([])
})

const endless = `No,Name\n1,a\n2,"${'x\n'.repeat(MAX_ENTRY_BYTES / 2 + 1)}`

test.each([
  ['No,Other\n1,2\n', 'the file has no column Name, which the column mapping names for name'],
  [Buffer.from([0x4e, 0x6f, 0xff, 0x0a]), `the header line cannot be read: ${NOT_UTF8}`],
  ['"No"x,Name\n', 'the header line cannot be read: text after the closing quote of a cell'],
  [endless, 'line 3: a row is longer than 8388608 bytes; look for a quotation mark that is never closed'],
])('a source that is unreadable as a whole is refused (%#)', async (content, reason) => {
  await expect(rows(content, { chunkBytes: 64 * 1024 })).rejects.toThrow(new ImportError(reason))
})

const MORE = 'the file has no column No, which the column mapping names for no'

test.each([
  ['No,Name', ',', true],
  ['No;Name', ';', true],
  ['No\tName', '\t', true],
  ['"No"|"Na,me;"|Name', '|', true],
  ['Other;Another;A,B', ';', true],
  ['', ',', true],
])('a table that begins with %j has the delimiter %j', (head, delimiter, header) => {
  expect(findDelimiterAndHeader(Buffer.from(`${head}\n1\n`), { mapping })).toEqual({ delimiter, header })
})

const numbered = readColumnMapping({ no: '2', name: '1' }, null)

test('a mapping that names columns by number is for a table without a header line, unless it has these numbers', async () => {
  const form = (content: string, options = {}) => findDelimiterAndHeader(Buffer.from(content), { mapping: numbered, ...options })
  expect(form('a;b\n')).toEqual({ delimiter: ';', header: false })
  expect(form('1;2\n')).toEqual({ delimiter: ';', header: true })
  expect(form('1;2\n', { header: false })).toEqual({ delimiter: ';', header: false })
  const found = await collect(readCsv(memorySource('Ada,17\nGrace,18,x\n'), START, { mapping: numbered }))
  expect(found).toMatchObject([
    { line: 1, document: { no: '17', name: 'Ada' } },
    { line: 2, problem: 'the row and the first row must have the same number of cells: they have 3 and 2' },
  ])
})

test('a first row that has none of the columns is refused, with what to do where it is no header', async () => {
  await expect(rows('17,Ada\n18,Grace\n')).rejects.toThrow(
    new ImportError(
      `${MORE}; if the file has no header line, add --no-header and name its columns by number, such as {"birth_date": "3"}`,
    ),
  )
})
