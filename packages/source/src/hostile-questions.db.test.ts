/** Questions and databases that would stop a source, or have it fail inside: of participants, of administrators, of old databases. */
import { randomBytes } from 'node:crypto'
import type { Predicate } from '@rollcall/core/model/predicate'
import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import { type RecordSource, RecordsUnavailable } from '@rollcall/core/model/record-source'
import { type Kind, kindNamed } from '@rollcall/protocol'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { compared } from '../test/asking.ts'
import { addressOf, makeOffice, officeSource } from '../test/office.ts'
import { checkSource } from './check-source.ts'
import type { OpenEngine } from './engine/engine.ts'
import { openEngine } from './engines.ts'
import { createLiveRecordAccess } from './live-records.ts'
import { neededConditionOf } from './needed.ts'
import { conditionOf, createParameters as newParameters } from './postgresql/conditions.ts'
import { readSourceFile } from './source-file.ts'

const kind = kindNamed('civil') as Kind
const [recordType] = kind.record_types
const registry = { id: 1, kind }
const ADA = { person_no: 1, national_no: 'A1', family_name: 'Okoro', born: '1985-06-12' }
let office: Awaited<ReturnType<typeof emptyDatabase>>
let admin: pg.Client

beforeAll(async () => {
  office = await emptyDatabase()
  await makeOffice(office.connection, [ADA])
  admin = new pg.Client(office.connection)
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await office.drop()
})

/** The office's file with other members, such as of its persons. */
function fileWith(more: object, file: object = {}) {
  const source = officeSource({ env: 'OFFICE' })
  const { Person } = source.records as { Person: object }
  const given = { ...source, ...file, records: { Person: { ...Person, ...more } } }
  return readSourceFile(JSON.parse(JSON.stringify(given)), kind)
}

async function opened<Result>(
  { more = {}, file = {}, address = addressOf(office.connection) },
  work: (source: RecordSource, engine: OpenEngine) => Promise<Result>,
): Promise<Result> {
  const read = fileWith(more, file)
  const engine = openEngine(read, { OFFICE: address })
  try {
    return await work(createLiveRecordAccess(kind, read, engine, async () => NOBODY_PROTECTED).source, engine)
  } finally {
    await engine.close()
  }
}

const bearer = (type: string, value: string): Predicate => ({ is: 'identifier', identifiers: [{ type, value }] })
const page = { sort: [], limit: 10, offset: 0, cap: 10 }
const total = async (source: RecordSource, predicate: Predicate): Promise<number> =>
  (await source.reader('sync').find(registry, { recordType, predicate, page })).total

test('each part of a nested question is written once', () => {
  const records = fileWith({}).records.get(recordType.name)
  if (records === undefined) throw new Error('the office has persons')
  let asked = 0
  const types = { get: () => ({ sql: 'text', holds: 'text', isKey: true, read: String, parameter: count }) } as never
  const count = (text: string): string => {
    asked += 1
    return text
  }
  let predicate = bearer('UIN', 'A1')
  for (let depth = 1; depth < 20; depth += 1) predicate = { is: 'or', of: [bearer('UIN', `X${depth}`), predicate] }
  const parts = [records.own, ...records.children].map(() => types)
  const parameters = newParameters()
  expect(conditionOf(records, parts, neededConditionOf(records, predicate), parameters)).not.toBeNull()
  expect([asked, parameters.values.length]).toEqual([20, 20])
})

test('a part that leaves nothing out takes the parameters of the parts before it away', () => {
  const records = fileWith({}).records.get(recordType.name)
  if (records === undefined) throw new Error('the office has persons')
  const parts = [records.own, ...records.children].map(() => new Map())
  const column = { is: 'column', column: { part: records.own, target: records.own.targets[0] }, test: { is: 'present' } }
  const parameters = newParameters()
  expect(conditionOf(records, parts, { is: 'or', of: [column, { is: 'anything' }] } as never, parameters)).toBeNull()
  expect(parameters.values).toEqual([])
})

test('a query is judged while the only connection is in use, and a source that is busy is not away', async () => {
  await opened({ file: { pool: 1 } }, async (source, engine) => {
    const rule = await source.session(
      async () => await source.refusal?.(registry, { recordType, predicate: bearer('UIN', 'A1') }),
    )
    expect(rule).toBeNull()
    const waiting = source.session(() => total(source, bearer('UIN', 'A1')))
    await expect(waiting).rejects.toBeInstanceOf(RecordsUnavailable)
    expect(engine.isAway()).toBe(false)
    expect(await total(source, bearer('UIN', 'A1'))).toBe(1)
  })
})

test('a database with another encoding is asked for no text that it cannot hold', async () => {
  const database = `latin_${randomBytes(6).toString('hex')}`
  await admin.query(`create database ${database} encoding 'LATIN2' lc_collate 'C' lc_ctype 'C' template template0`)
  try {
    const connection = { ...office.connection, database }
    await makeOffice(connection, [{ ...ADA, national_no: 'Ł1' }])
    await opened({ address: addressOf(connection) }, async (source) => {
      expect(await total(source, bearer('UIN', 'Ł1'))).toBe(1)
      expect(await total(source, bearer('UIN', '日'))).toBe(0)
      expect(await total(source, { is: 'or', of: [bearer('UIN', '日'), bearer('UIN', 'Ł1')] })).toBe(1)
    })
  } finally {
    await admin.query(`drop database ${database}`)
  }
})

test('a database with an encoding of several bytes is asked for every text', async () => {
  const database = `euc_${randomBytes(6).toString('hex')}`
  await admin.query(`create database ${database} encoding 'EUC_JP' lc_collate 'C' lc_ctype 'C' template template0`)
  try {
    const connection = { ...office.connection, database }
    await makeOffice(connection, [{ ...ADA, national_no: '日1' }])
    await opened({ address: addressOf(connection) }, async (source) => {
      expect(await total(source, bearer('UIN', '日1'))).toBe(1)
      expect(await total(source, bearer('UIN', '😀'))).toBe(0)
      expect(await total(source, { is: 'or', of: [bearer('UIN', 'Ł'), bearer('UIN', '日1')] })).toBe(1)
    })
  } finally {
    await admin.query(`drop database ${database}`)
  }
})

test('spaces around codes and dates have no meaning', async () => {
  await admin.query(`create table office.spaced (person_no int primary key, national_no text, gender text, born text)`)
  const spaces = ['', ' ', '\t', '\u00a0', '\u3000', '\ufeff', '\r\n']
  for (const [no, space] of spaces.entries()) {
    const values = [no, `S${no}`, `${space}1${space}`, `${space}12/06/1985${space}`]
    await admin.query('insert into office.spaced values ($1, $2, $3, $4)', values)
  }
  const columns = {
    'identifier[UIN]': 'national_no',
    sex: { column: 'gender', codes: { 1: 'male', 2: 'female' } },
    birth_date: { column: 'born', format: 'dd/MM/yyyy' },
  }
  const more = { from: 'office.spaced', where: 'true', children: [], columns, compare: { sex: 'code', birth_date: 'date' } }
  await opened({ more }, async (source) => {
    expect(await total(source, compared('sex', 'male'))).toBe(spaces.length)
    expect(await total(source, compared('sex', 'female'))).toBe(0)
    expect(await total(source, compared('birth_date', { from: '1985-06-12', to: '1985-06-12' }))).toBe(spaces.length)
  })
})

test('a record with more rows of a child than one may have is left out, and the check says so', async () => {
  await admin.query(`insert into office.person values (7, 'M7', 'Many');
    insert into office.birth select 'B' || n, 7, 'Moshi' from generate_series(1, 1001) n`)
  try {
    expect(await opened({}, (source) => total(source, bearer('UIN', 'M7')))).toBe(0)
    const file = fileWith({})
    const { records } = await opened({}, (_, engine) => checkSource(kind, file, engine))
    expect(records[0]?.report.rejections).toEqual([
      { reason: 'more than 1000 rows of a child, or rows too long to be read', count: 1, lines: [2] },
    ])
    await admin.query(`delete from office.birth where birth_no = 'B1'`)
    expect(await opened({}, (source) => total(source, bearer('UIN', 'M7')))).toBe(1)
  } finally {
    await admin.query('delete from office.birth; delete from office.person where person_no = 7')
  }
})

test('a number that a column cannot have is in no record', async () => {
  await admin.query(`create table office.numbered (person_no int primary key, single float4, double float8)`)
  await admin.query('insert into office.numbered values (1, 12, 13)')
  for (const [column, value] of [
    ['single', '12'],
    ['double', '13'],
  ]) {
    const more = { from: 'office.numbered', where: 'true', children: [], compare: {} }
    const columns = { 'identifier[UIN]': column }
    await opened({ more: { ...more, columns } }, async (source) => {
      for (const other of ['1E39', '1E999', '1E-400', '9'.repeat(390)]) {
        expect(await total(source, bearer('UIN', other))).toBe(0)
      }
      expect(await total(source, bearer('UIN', value ?? ''))).toBe(1)
    })
  }
})

test('the collation of a column has no say in digits', async () => {
  await admin.query(`create collation office.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table office.ci (person_no int primary key, national_no text, mobile text collate office.ci);
    insert into office.ci values (1, 'A1', '+1 55')`)
  const columns = { 'identifier[UIN]': 'national_no', phone_number: 'mobile' }
  const more = { from: 'office.ci', where: 'true', children: [], columns, compare: { MOBILE: 'digits' } }
  expect(await opened({ more }, (source) => total(source, bearer('MOBILE', '155')))).toBe(1)
})

test('rows without a key end an answer', async () => {
  await admin.query(`create table office.keyless (person_no text, national_no text);
    insert into office.keyless values ('k', 'A1');
    insert into office.keyless select null, 'B' || n from generate_series(1, 1000) n`)
  const more = { from: 'office.keyless', where: 'true', children: [], columns: { 'identifier[UIN]': 'national_no' } }
  const counted = opened({ more: { ...more, compare: {} } }, (source) => source.reader('sync').count(registry, recordType))
  expect(await counted).toBe(1)
})

test('a source is no database of Rollcall itself', async () => {
  const read = (url: object) => readSourceFile(officeSource(url), kind)
  for (const name of ['DATABASE_URL', 'ROLLCALL_OWNER_DATABASE_URL']) {
    expect(() => openEngine(read({ env: name }), { [name]: addressOf(office.connection) })).toThrow(
      `url.env: ${name} is a variable of Rollcall itself; give the address another name`,
    )
  }
  const own = await testDatabase()
  const file = read({ env: 'OTHER' })
  const engine = openEngine(file, { OTHER: addressOf(own.connection) })
  try {
    await expect(checkSource(kind, file, engine)).rejects.toThrow(
      'url: it is a database of Rollcall itself; a source is the database of another system',
    )
  } finally {
    await engine.close()
    await own.close()
  }
})

test('an address and certificates are read of regular files alone', () => {
  const of = (more: object) => readSourceFile({ ...officeSource({ env: 'OFFICE' }), ...more }, kind)
  expect(() => openEngine(of({ url: { file: '/dev/zero' } }), {})).toThrow('url.file: /dev/zero is no regular file')
  const office = { OFFICE: 'postgresql://reader@127.0.0.1/civil' }
  expect(() => openEngine(of({ tls: { ca: '/dev/zero' } }), office)).toThrow('tls.ca: /dev/zero is no regular file')
})
