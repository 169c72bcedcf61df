import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Registry } from '@rollcall/core/model/registry'
import { NUMBER_RULE } from '@rollcall/protocol'
import { recordTable } from '@rollcall/records/records/record-tables'
import { addRegistry } from '@rollcall/records/registries/registries'
import { generateLines, KIND_GENERATORS } from '@rollcall/synthetic'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { type ImportOptions, importFile, type ReportedProgress } from './import-file.ts'
import { ImportError } from './source.ts'

let database: TestDatabase
let civil: Registry
let directory: string

beforeAll(async () => {
  database = await testDatabase()
  civil = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
})
afterAll(() => database.close())
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-import-'))
  const { table } = recordTable(civil, civil.kind.record_types[0])
  await database.db.pool.query(`truncate ${table} cascade; delete from import_progress`)
})
afterEach(() => rm(directory, { recursive: true }))

const person = (uin: string, members: object = {}) =>
  JSON.stringify({ identifier: [{ identifier_type: 'UIN', identifier_value: uin }], ...members })
const people = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${person(`U${from + at}`)}\n`).join('')

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

function importPeople(source: string | Readable, options: ImportOptions = {}) {
  return importFile(database.db, civil, source, options)
}

async function count(registry = civil): Promise<number> {
  const { table } = recordTable(registry, registry.kind.record_types[0])
  return (await database.db.pool.query(`select count(*) from ${table}`)).rows[0].count
}

async function rejects(path: string): Promise<unknown[]> {
  const text = await readFile(path, 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Stops the import after so many committed batches. */
function stopAfter(batches: number): ImportOptions {
  const controller = new AbortController()
  let committed = 0
  return {
    signal: controller.signal,
    onProgress: () => {
      committed += 1
      if (committed === batches) controller.abort()
    },
  }
}

test('a bad line is listed with its number and reason and nothing of the record; the others are written', async () => {
  const secret = 'Okafor'
  const content = Buffer.concat([
    Buffer.from(`\ufeff${person('A1', { name: { surname: secret } })}\r\n\r\n`),
    Buffer.from(`{"name":"${secret}"}\n{"name":"${secret}"\n[1]\n`),
    Buffer.from('{"name":"'),
    Buffer.from([0xff]),
    Buffer.from(`"}\n${person('B2', { '@type': 'Household' })}\n${person('C3', { n: 12345 })}\n`),
    Buffer.from(
      `${person('D4', { people: { [secret]: { gender: '1' } } }).replace('"1"', '12345678901234567890')}\n${person('E5')}`,
    ),
  ])
  const path = await file('people.ndjson', content)
  const result = await importPeople(path)
  expect(result).toEqual({
    lines: 9,
    written: 3,
    added: 3,
    replaced: 0,
    unchanged: 0,
    removal: null,
    rejected: 6,
    report: expect.objectContaining({ kept: 0, columns: [], unused_columns: [] }),
    bytes: content.length,
    totalBytes: content.length,
    finished: true,
    readAs: { format: 'ndjson', encoding: 'utf-8', table: null },
    events: 'none',
    resumedFrom: 0,
    rejectsPath: `${path}.rejects.ndjson`,
  })
  expect(await count()).toBe(3)
  expect(await rejects(`${path}.rejects.ndjson`)).toEqual([
    { line: 3, reason: 'no usable UIN, by which a Person is known' },
    { line: 4, reason: 'name: not JSON: "," or "}" is expected at character 17' },
    { line: 5, reason: 'a record is a JSON object' },
    { line: 6, reason: 'the record is not in UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE' },
    { line: 7, reason: "@type must be one of the registry's record types: Person" },
    { line: 9, reason: `["*"]["*"].gender: ${NUMBER_RULE}` },
  ])
  expect((await stat(`${path}.rejects.ndjson`)).mode & 0o777).toBe(0o600)
  expect(await readFile(`${path}.rejects.ndjson`, 'utf8')).not.toContain(secret)
})

test('numbers are kept in their RFC 8785 form, or the line is refused, in every spelling', async () => {
  const spellings: [written: string, kept: string | null][] = [
    ['1.0', '1'],
    ['1e2', '100'],
    ['0.10', '0.1'],
    ['9007199254740992', '9007199254740992'],
    ['9007199254740992.0', '9007199254740992'],
    ['1e16', '10000000000000000'],
    ['1e20', '100000000000000000000'],
    ['9007199254740993', null],
    ['9007199254740993.0', null],
    ['0.12345678901234567890', null],
    ['1e-400', null],
    ['1e400', null],
  ]
  const lines = spellings.map(([written], at) => person(`N${at}`, { n: 'N' }).replace('"N"', written))
  const path = await file('numbers.ndjson', lines.join('\n'))
  await importPeople(path)
  const { table } = recordTable(civil, civil.kind.record_types[0])
  const { rows } = await database.db.pool.query(`select document from ${table} order by id`)
  const kept = spellings.flatMap(([, text]) => (text === null ? [] : [text]))
  expect(rows.map(({ document }) => /"n":([^,}]*)/.exec(document)?.[1])).toEqual(kept)
  const refused = spellings.flatMap(([, text], at) => (text === null ? [at + 1] : []))
  expect(await rejects(`${path}.rejects.ndjson`)).toEqual(refused.map((line) => ({ line, reason: `["*"]: ${NUMBER_RULE}` })))
})

test('the same file again replaces its records, and an old list of rejects', async () => {
  const path = await file('people.ndjson', people(0, 10))
  await writeFile(`${path}.rejects.ndjson`, 'old\n')
  expect(await importPeople(path)).toMatchObject({ written: 10, rejectsPath: null })
  expect(await importPeople(path)).toMatchObject({ written: 10, resumedFrom: 0 })
  expect(await count()).toBe(10)
  await expect(stat(`${path}.rejects.ndjson`)).rejects.toMatchObject({ code: 'ENOENT' })
})

const mapping = { 'identifier[UIN]': 'no', 'name.surname': 'family' }
const array = (from: number, to: number) => `[\n${people(from, to).trimEnd().replaceAll('\n', ',\n')}\n]`
const csv = (from: number, to: number) =>
  `no,family\n${Array.from({ length: to - from }, (_, at) => `U${from + at},Fam\n`).join('')}`

test.each([
  ['people.ndjson', `${people(0, 25)}{}\n${people(25, 60)}`, {}],
  ['people.json', array(0, 60).replace('"U25"', '""'), {}],
  ['people.csv', csv(0, 60).replace('U25,', ','), { mapping }],
])('%s: an import that was stopped goes on where its last batch ended', async (name, content, options) => {
  const path = await file(name, content)
  const stopped = await importPeople(path, { ...options, ...stopAfter(3), batchEntries: 10 })
  expect(stopped).toMatchObject({ finished: false, lines: 30, written: 29, rejected: 1, resumedFrom: 0 })
  expect(await count()).toBe(29)
  const before = await rejects(`${path}.rejects.ndjson`)
  // As a process would leave it that was killed in the middle of a batch.
  await writeFile(`${path}.rejects.ndjson`, '{"line":99,"reason":"never committed"}\n', { flag: 'a' })
  const total = name === 'people.ndjson' ? 61 : 60
  const progress: ReportedProgress[] = []
  expect(await importPeople(path, { ...options, batchEntries: 10, onProgress: (now) => progress.push(now) })).toMatchObject({
    finished: true,
    resumedFrom: 30,
    lines: total,
    written: total - 1,
    rejected: 1,
  })
  expect(progress[0]?.lines).toBe(40)
  expect(progress.at(-1)).toMatchObject({ lines: total, bytes: content.length, totalBytes: content.length })
  expect(await count()).toBe(total - 1)
  expect(await rejects(`${path}.rejects.ndjson`)).toEqual(before)
})

test('an import with another file of rejects begins anew, and that file has its rejects alone', async () => {
  const path = await file('people.ndjson', `{}\n${people(0, 30)}`)
  await importPeople(path, { ...stopAfter(1), batchEntries: 10 })
  const other = await file('other.ndjson', 'x'.repeat(10_000))
  expect(await importPeople(path, { rejectsPath: other })).toMatchObject({ resumedFrom: 0, rejected: 1 })
  expect(await rejects(other)).toEqual([{ line: 1, reason: expect.any(String) }])
})

test('an interrupted import begins anew when the file, its reading or the last import is another', async () => {
  const path = await file('people.ndjson', people(0, 30))
  const stop = () => importPeople(path, { ...stopAfter(1), batchEntries: 10 })
  await stop()
  expect(await importPeople(path, { recordType: 'Person' })).toMatchObject({ resumedFrom: 0 })
  await stop()
  await writeFile(path, people(0, 31))
  expect(await importPeople(path)).toMatchObject({ resumedFrom: 0, lines: 31 })
  await stop()
  await importPeople(Readable.from([people(0, 5)]), { format: 'ndjson' })
  expect(await importPeople(path)).toMatchObject({ resumedFrom: 0, lines: 31 })
})

test('a stream is imported too', async () => {
  const result = await importPeople(Readable.from([people(0, 3), '{}\n']), { format: 'ndjson' })
  expect(result).toMatchObject({ written: 3, rejected: 1, totalBytes: null, rejectsPath: null })
})

test('of a record that occurs several times the last stands, within a batch and across batches', async () => {
  const lines = [1, 2, 3, 4, 5].map((n) => person('A1', { n })).join('\n')
  const path = await file('people.ndjson', lines)
  for (const batchEntries of [2, 100]) {
    expect(await importPeople(path, { batchEntries })).toMatchObject({ written: 5 })
    const { table } = recordTable(civil, civil.kind.record_types[0])
    const { rows } = await database.db.pool.query(`select document::json ->> 'n' as n from ${table}`)
    expect(rows).toEqual([{ n: '5' }])
  }
})

test('what the database itself refuses is found among its batch and listed', async () => {
  // Nothing in a document does it today; this index does, for numbers of four characters.
  const { table } = recordTable(civil, civil.kind.record_types[0])
  await database.db.pool.query(`create index refusing on ${table} ((1 / (length(primary_identifier) - 4)))`)
  const path = await file('people.ndjson', `${people(0, 7)}${person('LONG')}\n${people(7, 20)}`)
  const reason = 'the database cannot store one of the values of this record (SQLSTATE 22012)'
  const { report, ...result } = await importPeople(path)
  expect(result).toMatchObject({ written: 20, rejected: 1 })
  expect(report.rejections).toEqual([{ reason, count: 1, lines: [8] }])
  expect(await count()).toBe(20)
  expect(await rejects(`${path}.rejects.ndjson`)).toEqual([{ line: 8, reason }])
  await database.db.pool.query('drop index refusing')
})

test('one import into a registry at a time', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  async function* slow() {
    yield Buffer.from(people(0, 2))
    await held
  }
  const first = importPeople(Readable.from(slow()), { format: 'ndjson' })
  const path = await file('people.ndjson', people(0, 1))
  const locks = `select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`
  await expect.poll(async () => (await database.db.pool.query(locks)).rows.length).toBeGreaterThan(0)
  await expect(importPeople(path)).rejects.toThrow(
    new ImportError('another import into civil is running; try again when it has ended'),
  )
  release()
  await first
  expect(await importPeople(path)).toMatchObject({ written: 1 })
})

test('a failure between batches keeps what is committed and passes on', async () => {
  async function* broken() {
    yield Buffer.from(people(0, 10))
    throw new Error('the cable was pulled')
  }
  const failing = importPeople(Readable.from(broken()), { format: 'ndjson', batchEntries: 4 })
  await expect(failing).rejects.toThrow('the cable was pulled')
  expect(await count()).toBe(8)
})

test('an import that cannot work is refused before anything is read', async () => {
  const path = await file('people.ndjson', people(0, 1))
  await expect(importPeople(path, { recordType: 'Farmer' })).rejects.toThrow(
    new ImportError('the registry has no record type Farmer; it has Person'),
  )
  await expect(importPeople(path, { rejectsPath: path })).rejects.toThrow(
    new ImportError('--rejects names the file that is imported; name another file'),
  )
  await expect(importPeople(path, { rejectsPath: join(directory, 'no', 'such', 'place') })).resolves.toMatchObject({ written: 1 })
  const bad = await file('bad.ndjson', '{}')
  await expect(importPeople(bad, { rejectsPath: join(directory, 'no', 'such', 'place') })).rejects.toThrow(
    new ImportError('the file of rejected lines cannot be written (ENOENT); name another with --rejects'),
  )
})

test.each(KIND_GENERATORS.map(({ kind }) => kind))('the synthetic population of kind %s is imported whole', async (kind) => {
  const registry = await addRegistry(database.db, { namespace: `all-${kind}`, kind, sender_id: `${kind}.all.example` })
  const path = await file('all.ndjson', [...generateLines(kind, { count: 300, seed: 1 })].join('\n'))
  expect(await importFile(database.db, registry, path)).toMatchObject({ written: 300, rejected: 0 })
})
