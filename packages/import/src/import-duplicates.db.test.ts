import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Registry } from '@rollcall/core/model/registry'
import { ensureRecordTables, recordTable } from '@rollcall/records/records/record-tables'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { type ImportOptions, importFile } from './import-file.ts'

let database: TestDatabase
let civil: Registry
let table: string
let directory: string

beforeAll(async () => {
  database = await testDatabase()
  civil = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  table = recordTable(civil, civil.kind.record_types[0]).table
  directory = await mkdtemp(join(tmpdir(), 'rollcall-duplicates-'))
})
afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})
beforeEach(() => database.db.pool.query(`truncate ${table} cascade; delete from import_progress`))

let files = 0
async function file(name: string, content: string): Promise<string> {
  files += 1
  const path = join(directory, `${files}-${name}`)
  await writeFile(path, content)
  return path
}

async function imported(source: string | Readable, options: ImportOptions = {}) {
  const { report, ...result } = await importFile(database.db, civil, source, options)
  const text = result.rejectsPath === null ? '' : await readFile(result.rejectsPath, 'utf8')
  const rejects = text.split('\n').filter((line) => line !== '')
  const { rejections, repeated } = report
  return { ...result, rejections, repeated, report, rejects: rejects.map((line) => JSON.parse(line)) }
}

/** Given names by primary identifier. */
async function people(): Promise<Record<string, unknown>> {
  const { rows } = await database.db.pool.query(
    `select primary_identifier, document::json -> 'name' ->> 'given_name' as name from ${table}`,
  )
  return Object.fromEntries(rows.map(({ primary_identifier, name }) => [primary_identifier, name]))
}

/** Stops after the first committed batch. */
function stopAfterOne(batchEntries: number): ImportOptions {
  const controller = new AbortController()
  return { batchEntries, signal: controller.signal, onProgress: () => controller.abort() }
}

const mapping = { 'identifier[UIN]': 'No', 'name.given_name': 'Given' }
const FORMS: readonly (readonly [name: string, options: ImportOptions])[] = [
  ['people.csv', { mapping }],
  ['people.ndjson', {}],
  ['people.json', {}],
]
/** In each format the first person stands on line 2. */
function content(name: string, rows: readonly (readonly [uin: string, given: string])[]): string {
  if (name.endsWith('.csv')) return ['No,Given', ...rows.map((row) => row.join(','))].join('\n')
  const records = rows.map(([identifier_value, given_name]) =>
    JSON.stringify({ identifier: [{ identifier_type: 'UIN', identifier_value }], name: { given_name } }),
  )
  return name.endsWith('.json') ? `[\n${records.join(',\n')}\n]` : `\n${records.join('\n')}`
}

const ROWS = [
  ['U1', 'Asha'],
  ['U2', 'Binta'],
  ['u 1', 'Chidi'],
  ['U3', 'Dede'],
  ['U1', 'Efe'],
  ['U2', 'Femi'],
] as const
const FIRST = { U1: 'Asha', U2: 'Binta', U3: 'Dede' }
const LAST = { U1: 'Efe', U2: 'Femi', U3: 'Dede' }

const RULE = 'has the same UIN, and its record stands'
const REJECTED = [
  { line: 4, reason: `line 2 ${RULE}` },
  { line: 6, reason: `line 2 ${RULE}` },
  { line: 7, reason: `line 3 ${RULE}` },
]

// With every line a batch of its own, with some of them together, and with all of them.
const BATCHES = [1, 3, 2_000]

test.each(BATCHES)('a table, %i lines in a batch: the first row stands, and the others are rejected', async (batchEntries) => {
  const path = await file('people.csv', content('people.csv', ROWS))
  const result = await imported(path, { mapping, batchEntries })
  expect(result).toMatchObject({ lines: 6, written: 3, added: 3, replaced: 0, rejected: 3 })
  expect(result.rejections).toEqual([{ reason: `an earlier line ${RULE}`, count: 3, lines: [4, 6, 7] }])
  expect(result.repeated).toEqual({ count: 0, lines: [] })
  expect(result.rejects).toEqual(REJECTED)
  expect(await people()).toEqual(FIRST)
})

test.each(BATCHES.flatMap((size) => FORMS.map(([name, options]) => [name, size, options] as const)))(
  '%s, %i lines in a batch: with last, the last record stands, and the report counts the lines',
  async (name, batchEntries, { mapping }) => {
    const path = await file(name, content(name, ROWS))
    const given = mapping ? { mapping: { ...mapping, duplicates: 'last' } } : {}
    const result = await imported(path, { ...given, batchEntries })
    expect(result).toMatchObject({ lines: 6, written: 6, added: 3, replaced: 3, rejected: 0, rejectsPath: null })
    expect(result.repeated).toEqual({ count: 3, lines: [4, 6, 7] })
    expect(result.rejections).toEqual([])
    expect(await people()).toEqual(LAST)
  },
)

test.each([
  ['people.csv', { mapping }, { rejected: 3 }, REJECTED],
  ['people.ndjson', {}, { rejected: 0, repeated: { count: 3, lines: [4, 6, 7] } }, []],
] as const)(
  '%s: a dry run says the same, and the import after it is not changed by it',
  async (name, given, expected, rejects) => {
    const path = await file(name, content(name, ROWS))
    const rejectsPath = `${path}.dry`
    const dry = await imported(path, { ...given, dryRun: true, batchEntries: 2, rejectsPath })
    expect(dry).toMatchObject({ ...expected, rejects })
    expect(await people()).toEqual({})
    expect(await imported(path, given)).toMatchObject({ ...expected, rejects, added: 3 })
  },
)

test.each(FORMS)('%s: the same file again replaces each record, and repeats nothing', async (name, given) => {
  const rows = ROWS.slice(0, 2)
  const path = await file(name, content(name, rows))
  await imported(path, given)
  expect(await imported(path, given)).toMatchObject({
    written: 2,
    added: 0,
    replaced: 2,
    rejected: 0,
    repeated: { count: 0, lines: [] },
  })
})

test('a stream again replaces each record, and repeats nothing', async () => {
  const text = content('people.csv', ROWS.slice(0, 2))
  const stream = () => imported(Readable.from([Buffer.from(text)]), { mapping, format: 'csv' })
  expect(await stream()).toMatchObject({ added: 2, rejected: 0 })
  expect(await stream()).toMatchObject({ replaced: 2, rejected: 0 })
})

test('an import that is resumed finds the lines before its interruption, and does not count its own rows', async () => {
  const path = await file('people.csv', content('people.csv', ROWS))
  expect(await imported(path, { mapping, ...stopAfterOne(2) })).toMatchObject({ finished: false, written: 2 })
  const resumed = await imported(path, { mapping })
  expect(resumed).toMatchObject({ finished: true, resumedFrom: 2, lines: 6, written: 3, rejected: 3 })
  expect(resumed.rejects).toEqual(REJECTED)
  expect(await people()).toEqual(FIRST)
  // It has ended: the same file begins anew.
  expect(await imported(path, { mapping })).toMatchObject({ resumedFrom: 0, replaced: 3, rejected: 3 })
})

test('with last, what was replaced before an interruption stays counted', async () => {
  const path = await file('people.ndjson', content('people.ndjson', ROWS))
  expect(await imported(path, stopAfterOne(3))).toMatchObject({ repeated: { count: 1, lines: [4] } })
  expect(await imported(path)).toMatchObject({ resumedFrom: 3, repeated: { count: 3, lines: [4, 6, 7] } })
  expect(await people()).toEqual(LAST)
})

test('another writer in the meantime: a row stays one of its file', async () => {
  const path = await file('people.csv', content('people.csv', ROWS))
  await imported(path, { mapping, ...stopAfterOne(2) })
  await database.db.pool.query(`update ${table} set document = '{"name":{"given_name":"Other"}}'
    where primary_identifier = 'U1'`)
  expect(await imported(path, { mapping })).toMatchObject({ rejected: 3 })
  expect(await people()).toEqual({ ...FIRST, U1: 'Other' })
})

test('where the first row is rejected, the next one stands', async () => {
  const rows = [
    ['U1', 'Asha', '1990-31-31'],
    // A day that no calendar of the database knows.
    ['U2', 'Binta', '0000-01-01'],
    ['U1', 'Chidi', '1990-01-01'],
    ['U2', 'Dede', '1990-01-01'],
    ['U2', 'Efe', '1990-01-01'],
  ]
  const path = await file('people.csv', ['No,Given,DOB', ...rows.map((row) => row.join(','))].join('\n'))
  const result = await imported(path, { mapping: { ...mapping, birth_date: 'DOB' } })
  expect(result.rejects.map(({ line }) => line)).toEqual([2, 3, 6])
  expect(result.rejects.at(-1)).toEqual({ line: 6, reason: `line 5 ${RULE}` })
  expect(await people()).toEqual({ U1: 'Chidi', U2: 'Dede' })
})

test.each(['8.1E+09', '8,1E+09', '8e-7', '8.10000001e+12'])(
  '%s is what a spreadsheet has made of a number, and no identifier, with --lenient too',
  async (value) => {
    const reason =
      'UIN: a spreadsheet has shortened the number to a form such as 8.1E+09; format its column as text and export the file again'
    const path = await file('people.csv', `No;Given\n${value};Asha\n8.1-00.12;Binta\n8E12;Chidi`)
    for (const lenient of [false, true]) {
      const result = await imported(path, { mapping, lenient })
      expect(result.rejects).toEqual([{ line: 2, reason }])
      expect(result.rejections).toEqual([{ reason, count: 1, lines: [2] }])
    }
    expect(await people()).toEqual({ '8.1-00.12': 'Binta', '8E12': 'Chidi' })
    const ndjson = await file('people.ndjson', content('people.ndjson', [[value, 'Asha']]))
    expect((await imported(ndjson)).rejects).toEqual([{ line: 2, reason }])
  },
)

test('several formats of one column: each date is read by the one that it has', async () => {
  const rows = ['31/12/1990', '1990-12-30', '12/31/1990', '03/04/1990', '04/04/1990', '']
  const path = await file('people.csv', `No,DOB\n${rows.map((date, at) => `U${at},${date}`).join('\n')}`)
  const importedAs = (format: readonly string[]) =>
    imported(path, { mapping: { 'identifier[UIN]': 'No', birth_date: { column: 'DOB', format } } })

  const two = await importedAs(['dd/MM/yyyy', 'yyyy-MM-dd'])
  const rule = 'must be a date of one of the formats dd/MM/yyyy, yyyy-MM-dd, and not one that they read as different days'
  expect(two.rejects).toEqual([{ line: 4, reason: `birth_date (column DOB): ${rule}` }])
  expect(two.report.columns[1]).toMatchObject({ understood: 4, empty: 1, not_understood: 1, rule })
  const { rows: stored } = await database.db.pool.query(
    `select document::json ->> 'birth_date' as date from ${table} order by primary_identifier`,
  )
  expect(stored.map(({ date }) => date)).toEqual(['1990-12-31', '1990-12-30', '1990-04-03', '1990-04-04', null])

  // 3 April or 4 March: nobody can see it.
  const ambiguous = await importedAs(['dd/MM/yyyy', 'MM/dd/yyyy', 'yyyy-MM-dd'])
  expect(ambiguous.rejects.map(({ line }) => line)).toEqual([5])
})

test('a birth date after today is a remark, and is stored', async () => {
  const dates = ['2026-11-24', '2026-11-25', '2062-11', '2026', '1990-01-01']
  const path = await file('people.csv', `No,DOB\n${dates.map((date, at) => `U${at},${date}`).join('\n')}`)
  const given = { mapping: { 'identifier[UIN]': 'No', birth_date: 'DOB' } }
  const now = () => new Date('2026-11-24T12:00:00Z')
  for (const dryRun of [true, false]) {
    const { report, rejected } = await imported(path, { ...given, now, dryRun })
    expect(rejected).toBe(0)
    expect(report.attributes.find(({ name }) => name === 'birth_date')).toMatchObject({
      understood: 5,
      not_understood: 0,
      after_today: 2,
      after_today_lines: [3, 4],
    })
  }
})

test('tables that were made before records had lines get the columns, with their records', async () => {
  const path = await file('people.csv', content('people.csv', ROWS.slice(0, 2)))
  await imported(path, { mapping })
  await database.db.pool.query(`alter table ${table} drop column import_run, drop column import_line`)
  await ensureRecordTables(database.db, civil)
  const again = await file('people.csv', content('people.csv', ROWS))
  expect(await imported(again, { mapping })).toMatchObject({ added: 1, replaced: 2, rejected: 3 })
})
