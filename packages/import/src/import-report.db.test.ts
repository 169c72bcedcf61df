import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Registry } from '@rollcall/core/model/registry'
import { recordTable } from '@rollcall/records/records/record-tables'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { ImportError } from './import-error.ts'
import { type ImportOptions, importFile } from './import-file.ts'

let database: TestDatabase
let civil: Registry
let directory: string

beforeAll(async () => {
  database = await testDatabase()
  civil = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  directory = await mkdtemp(join(tmpdir(), 'rollcall-report-'))
})
afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})
beforeEach(async () => {
  const { table } = recordTable(civil, civil.kind.record_types[0])
  await database.db.pool.query(`truncate ${table} cascade; delete from import_progress`)
})

let files = 0
async function imported(name: string, content: string, options: ImportOptions = {}) {
  files += 1
  const path = join(directory, `${files}-${name}`)
  await writeFile(path, content)
  const result = await importFile(database.db, civil, path, options)
  const { columns, attributes, ...report } = result.report
  const lines = result.rejectsPath === null ? [] : (await readFile(result.rejectsPath, 'utf8')).trim().split('\n')
  const attribute = (wanted: string) => attributes.find((one) => one.name === wanted)
  return { ...result, ...report, columns, attribute, path, rejects: lines.map((line) => JSON.parse(line)) }
}

async function documents(): Promise<unknown[]> {
  const { table } = recordTable(civil, civil.kind.record_types[0])
  const { rows } = await database.db.pool.query(`select document from ${table} order by primary_identifier`)
  return rows.map(({ document }) => JSON.parse(document))
}

const NOTHING = { unlisted: 0, unlisted_lines: [], after_today: 0, after_today_lines: [] }
const ALL_GOOD = { ...NOTHING, not_understood: 0, lines: [], rule: null }
const DATE = 'must be a date such as 1990-12-31, 1990-12, 1990 or 31.12.1990'

const PEOPLE = [
  'No,Given,DOB,Sex,Notes',
  'U1,Asha,31/12/1990,1,x',
  'U2,Binta,,2,',
  'U3,Chidi,1990-12-31,9,',
  'U4,Dede,13/31/1990,1,',
  ',Efe,30/02/1990,2,',
  'U6,Femi,01/01/1999,2,too,many',
  '',
].join('\n')
const mapping = {
  'identifier[UIN]': 'No',
  'name.given_name': 'Given',
  birth_date: { column: 'DOB', format: 'dd/MM/yyyy' },
  sex: { column: 'Sex', codes: { '1': 'male', '2': 'female' } },
}

test('CSV: a value that is not understood rejects its line, and the report names lines and rules', async () => {
  const { rejects, columns, unused_columns, attribute, ...result } = await imported('people.csv', PEOPLE, { mapping })
  expect(result).toMatchObject({ lines: 6, written: 2, rejected: 4, kept: 0 })
  const date = 'birth_date (column DOB): must be a date of the format dd/MM/yyyy'
  expect(rejects).toEqual([
    { line: 4, reason: `${date}; sex (column Sex): must be a value that the codes of the mapping list` },
    { line: 5, reason: date },
    { line: 6, reason: `${date}; no usable UIN, by which a Person is known` },
    { line: 7, reason: 'the row and the header line must have the same number of cells: they have 6 and 5' },
  ])
  expect(columns).toEqual([
    { column: 'No', path: 'identifier[UIN]', understood: 4, empty: 1, ...ALL_GOOD },
    { column: 'Given', path: 'name.given_name', understood: 5, empty: 0, ...ALL_GOOD },
    {
      column: 'DOB',
      path: 'birth_date',
      understood: 1,
      empty: 1,
      not_understood: 3,
      lines: [4, 5, 6],
      rule: 'must be a date of the format dd/MM/yyyy',
      ...NOTHING,
    },
    {
      column: 'Sex',
      path: 'sex',
      understood: 4,
      empty: 0,
      not_understood: 1,
      lines: [4],
      rule: 'must be a value that the codes of the mapping list',
      ...NOTHING,
    },
  ])
  expect(result.rejections).toEqual([
    { reason: 'no usable UIN, by which a Person is known', count: 1, lines: [6] },
    { reason: 'the row and the header line must have the same number of cells: they have 6 and 5', count: 1, lines: [7] },
  ])
  expect(unused_columns).toEqual(['Notes'])
  expect(attribute('birth_date')).toEqual({
    record_type: 'Person',
    name: 'birth_date',
    understood: 1,
    empty: 1,
    not_understood: 2,
    lines: [4, 5],
    // The column has said it.
    rule: null,
    ...NOTHING,
  })
  expect(attribute('UIN')).toMatchObject({ understood: 4, empty: 0, not_understood: 0 })
  expect(attribute('sex')).toMatchObject({ understood: 3, empty: 0, not_understood: 1 })
})

test('CSV, lenient: the record is kept with the text as it stood, and counted', async () => {
  const { rejects, columns, ...result } = await imported('people.csv', PEOPLE, { mapping, lenient: true })
  expect(result).toMatchObject({ lines: 6, written: 4, rejected: 2, kept: 2 })
  expect(rejects.map(({ reason }) => reason)).toEqual([
    'no usable UIN, by which a Person is known',
    'the row and the header line must have the same number of cells: they have 6 and 5',
  ])
  expect(columns).toContainEqual(expect.objectContaining({ column: 'DOB', understood: 1, not_understood: 3 }))
  expect(await documents()).toMatchObject([
    { birth_date: '1990-12-31', sex: 'male' },
    { sex: 'female' },
    { birth_date: '1990-12-31', sex: '9' },
    { birth_date: '13/31/1990', sex: 'male' },
  ])
})

test('CSV without a format: a date that no record could have is rejected, with the advice to name its format', async () => {
  const plain = { 'identifier[UIN]': 'No', birth_date: 'DOB', phone_number: 'Phone' }
  const content = 'No,DOB,Phone\nU1,31/12/1990,none\nU2,31.12.1990,0700\n'
  const { rejects, columns } = await imported('people.csv', content, { mapping: plain })
  expect(rejects).toEqual([
    {
      line: 2,
      reason: `birth_date (column DOB): ${DATE}; or name the format of the column in the mapping; phone_number (column Phone): must be a phone number of 3 to 32 digits`,
    },
  ])
  expect(columns.map(({ column, understood, not_understood, rule }) => [column, understood, not_understood, rule])).toEqual([
    ['No', 2, 0, null],
    ['DOB', 1, 1, DATE],
    ['Phone', 1, 1, 'must be a phone number of 3 to 32 digits'],
  ])
})

const person = (uin: string, members: object = {}) => ({
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  ...members,
})
const RECORDS = [
  person('U1', { birth_date: '1990-12-31', sex: 'F', marriage_date: ['2001-02-03', 'soon'] }),
  person('U2', { birth_date: '31/12/1990', registration_date: 'now', sex: '9' }),
  person('U3', { sex: 'seven', marital_status: '', birth_date: ' ' }),
  person('U4', { name: { given_name: true }, phone_number: ['0700', 'none'] }),
]

test.each([
  ['people.ndjson', RECORDS.map((record) => JSON.stringify(record)).join('\n'), 1],
  ['people.json', `[\n${RECORDS.map((record) => JSON.stringify(record)).join(',\n')}\n]`, 2],
])('%s: values that no attribute can hold reject their line', async (name, content, first) => {
  const { rejects, attribute, ...result } = await imported(name, content)
  expect(result).toMatchObject({ lines: 4, written: 1, rejected: 3, kept: 0, columns: [], unused_columns: [] })
  expect(rejects).toEqual([
    { line: first, reason: `marriage_date: ${DATE}` },
    {
      line: first + 1,
      reason: `birth_date: ${DATE}; registration_date: must be a date-time such as 2026-02-03T09:15:00Z, or a date`,
    },
    { line: first + 3, reason: 'given_name: must be text or a number; MOBILE: must be a phone number of 3 to 32 digits' },
  ])
  // A code list is open: what is not on it is stored, found as it is, and said.
  expect(attribute('sex')).toEqual({
    record_type: 'Person',
    name: 'sex',
    understood: 3,
    empty: 1,
    not_understood: 0,
    lines: [],
    rule: null,
    ...NOTHING,
    unlisted: 2,
    unlisted_lines: [first + 1, first + 2],
  })
  expect(attribute('MOBILE')).toMatchObject({ understood: 0, empty: 3, not_understood: 1, lines: [first + 3] })
  expect(attribute('birth_date')).toMatchObject({ understood: 1, empty: 2, not_understood: 1 })
  const kept = await imported(name, content, { lenient: true })
  expect(kept).toMatchObject({ lines: 4, written: 4, rejected: 0, kept: 3 })
})

test('lenient: a record that is not stored is not counted as kept', async () => {
  const twice = ['No,Given,DOB,Sex', 'U1,Asha,1990-12-31,2', 'U1,Asha,1990-12-30,2'].join('\n')
  const { rejects, ...result } = await imported('twice.csv', twice, { mapping, lenient: true })
  expect(result).toMatchObject({ lines: 2, written: 1, rejected: 1, kept: 1 })
  expect(rejects).toEqual([{ line: 3, reason: 'line 2 has the same UIN, and its record stands' }])
})

test('elements of a list are read like attributes: an enrolment with a date that is none', async () => {
  const ibr = await addRegistry(database.db, { namespace: 'ibr', kind: 'ibr', sender_id: 'ibr.example' })
  const path = join(directory, 'beneficiaries.ndjson')
  const enrolment = (date: string) => ({ programme: { programme_identifier: 'P1' }, enrolment_date: date })
  const beneficiary = (uin: string, ...dates: string[]) =>
    JSON.stringify({ member: { member_identifier: uin, programme_identifier: dates.map(enrolment) } })
  await writeFile(path, `${beneficiary('1', '2026-01-01')}\n${beneficiary('2', '2026-01-01', '01/02/2026')}\n`)
  const { report, rejectsPath } = await importFile(database.db, ibr, path)
  const found = report.attributes.find(({ name }) => name === 'enrolment_date')
  expect(found).toMatchObject({ understood: 1, empty: 0, not_understood: 1, lines: [2] })
  expect(JSON.parse(await readFile(rejectsPath ?? '', 'utf8'))).toEqual({ line: 2, reason: `enrolment_date: ${DATE}` })
})

test('after an interruption the report is of the whole file', async () => {
  const rows = Array.from({ length: 40 }, (_, at) => `U${at},${at % 10 === 3 ? 'x' : '01/02/1990'}`)
  const path = join(directory, 'interrupted.csv')
  await writeFile(path, `No,DOB\n${rows.join('\n')}\n`)
  const columns = { 'identifier[UIN]': 'No', birth_date: mapping.birth_date }
  const controller = new AbortController()
  const options = { mapping: columns, batchEntries: 10 }
  const stopped = await importFile(database.db, civil, path, {
    ...options,
    signal: controller.signal,
    onProgress: ({ lines }) => lines === 20 && controller.abort(),
  })
  expect(stopped.finished).toBe(false)
  const resumed = await importFile(database.db, civil, path, options)
  expect(resumed).toMatchObject({ finished: true, resumedFrom: 20, lines: 40, rejected: 4 })
  const once = await importFile(database.db, civil, path, options)
  expect(once.resumedFrom).toBe(0)
  expect(resumed.report).toEqual(once.report)
  expect(resumed.report.columns[1]).toMatchObject({ understood: 36, not_understood: 4, lines: [5, 15, 25] })
})

test('lines that are rejected as a whole: each reason with its count and its first three lines', async () => {
  const text = Buffer.from('No,Given\nU1,Zo\xe9\nU2,Ad\xe8le\nU3,Ada,x\nU4,Ada\nU5,\xe8\nU6,\xe8\n', 'latin1')
  const path = join(directory, 'latin.csv')
  await writeFile(path, text)
  const options = { mapping: { 'identifier[UIN]': 'No' }, encoding: 'utf-8', batchEntries: 2 }
  const { report } = await importFile(database.db, civil, path, options)
  expect(report.rejections).toEqual([
    {
      reason: 'the row is not in UTF-8; if the file is in another encoding, name it, such as --encoding windows-1252',
      count: 4,
      lines: [2, 3, 6],
    },
    { reason: 'the row and the header line must have the same number of cells: they have 3 and 2', count: 1, lines: [4] },
  ])
})

test('more reasons than are counted one by one are counted together', async () => {
  const rows = Array.from({ length: 30 }, (_, at) => `U${at}${',x'.repeat(at + 2)}`)
  const { rejections } = await imported('wide.csv', `No,Given\n${rows.join('\n')}\n`, { mapping: { 'identifier[UIN]': 'No' } })
  expect(rejections).toHaveLength(21)
  expect(rejections.at(-1)).toEqual({ reason: 'other reasons', count: 10, lines: [22, 23, 24] })
})

test('a mapping without the primary identifier is refused before the file is read', async () => {
  const nothing = { mapping: { 'name.given_name': 'Given', 'identifier[NID]': 'No' } }
  await expect(imported('people.csv', PEOPLE, nothing)).rejects.toThrow(
    new ImportError(
      'the column mapping has no identifier[UIN], by which the registry knows a Person; map the column that has it, or name another type with rollcall registry set --primary before the first import',
    ),
  )
})

test('a dry run says what would be, and writes nothing', async () => {
  const dry = await imported('people.csv', PEOPLE, { mapping, dryRun: true })
  expect(await documents()).toEqual([])
  expect((await database.db.pool.query('select 1 from import_progress')).rows).toEqual([])
  const real = await imported('people.csv', PEOPLE, { mapping })
  for (const name of ['lines', 'written', 'rejected', 'columns', 'unused_columns'] as const) {
    expect(dry[name]).toEqual(real[name])
  }
  expect(dry).toMatchObject({ rejectsPath: null, events: 'none', finished: true })
  const named = join(directory, 'dry-rejects.ndjson')
  const listed = await imported('people.csv', PEOPLE, { mapping, dryRun: true, rejectsPath: named })
  expect(listed.rejects).toEqual(real.rejects)
})

test('a dry run beside an interrupted import leaves its progress and its rejects', async () => {
  const path = join(directory, 'beside.ndjson')
  await writeFile(path, `{}\n${JSON.stringify(person('U1'))}\n${JSON.stringify(person('U2'))}\n`)
  const controller = new AbortController()
  await importFile(database.db, civil, path, { batchEntries: 2, signal: controller.signal, onProgress: () => controller.abort() })
  await importFile(database.db, civil, path, { dryRun: true })
  const resumed = await importFile(database.db, civil, path, { batchEntries: 2 })
  expect(resumed).toMatchObject({ resumedFrom: 2, written: 2, rejected: 1 })
  expect(JSON.parse(await readFile(`${path}.rejects.ndjson`, 'utf8'))).toMatchObject({ line: 1 })
})
