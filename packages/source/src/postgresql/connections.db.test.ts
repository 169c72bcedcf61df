import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import { type RecordReader, RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { type Kind, kindNamed } from '@rollcall/protocol'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { compared } from '../../test/asking.ts'
import { addressOf, makeOffice, officeSource } from '../../test/office.ts'
import { openEngine } from '../engines.ts'
import { createLiveRecordAccess } from '../live-records.ts'
import { readSourceFile } from '../source-file.ts'
import { openConnections, readConnectionConfig } from './connections.ts'

const kind = kindNamed('civil') as Kind
const [recordType] = kind.record_types
const registry = { id: 1, kind }
let office: Awaited<ReturnType<typeof emptyDatabase>>
let admin: pg.Client

beforeAll(async () => {
  office = await emptyDatabase()
  await makeOffice(office.connection, [{ person_no: 1, national_no: 'A1', family_name: 'Okoro', born: '1985-06-12' }])
  admin = new pg.Client(office.connection)
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await office.drop()
})

/** Reads as the owner of the office, who could write: only the transaction stands in the way. */
async function reading<Result>(more: object, file: object, work: (reader: RecordReader) => Promise<Result>): Promise<Result> {
  const source = officeSource({ env: 'OFFICE' })
  const { Person } = source.records as { Person: object }
  const given = { ...source, ...file, records: { Person: { ...Person, ...more } } }
  const read = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
  const engine = openEngine(read, { OFFICE: addressOf(office.connection) })
  try {
    return await work(createLiveRecordAccess(kind, read, engine, async () => NOBODY_PROTECTED).source.reader('sync'))
  } finally {
    await engine.close()
  }
}

const lookUp = async (reader: RecordReader): Promise<number> => {
  const predicate = { is: 'identifier', identifiers: [{ type: 'UIN', value: 'A1' }] } as const
  const page = { sort: [], limit: 10, offset: 0, cap: 10 }
  return (await reader.find(registry, { recordType, predicate, page })).total
}

test('a statement that takes longer than the file allows is ended', async () => {
  const slow = { where: 'pg_sleep(60) is not null' }
  const failed = await reading(slow, { statement_timeout: 0.1 }, (reader) => lookUp(reader).catch((error) => error))
  expect(failed).toBeInstanceOf(SearchTimeout)
  expect(failed).toMatchObject({ seconds: 0.1, cause: expect.any(RecordsUnavailable) })
})

test('a state goes on after a statement that took too long, which may have less time than the file gives', async () => {
  const source = officeSource({ env: 'OFFICE' })
  const { Person } = source.records as { Person: object }
  const slow = { ...source, statement_timeout: 60, records: { Person: { ...Person, where: 'pg_sleep(0.5) is not null' } } }
  const file = readSourceFile(JSON.parse(JSON.stringify(slow)), kind)
  const engine = openEngine(file, { OFFICE: addressOf(office.connection) })
  const state = await engine.begin()
  const records = file.records.get('Person')
  if (records === undefined) throw new Error('no records')
  const asked = { needed: { is: 'anything' }, keys: null, after: null, limit: 10 } as const
  await expect(state.rows(records, { ...asked, within: 10 })).rejects.toMatchObject({ name: 'SearchTimeout', seconds: 0.01 })
  expect(await state.rows(records, asked)).toHaveLength(1)
  await state.end()
  await engine.close()
})

test('a search that stalls after its first rows closes its connection, and the database counts as away', async () => {
  // statement_timeout ends the first pause alone, so that our own time limit ends the wait.
  await admin.query(`create function office.stall() returns text language plpgsql as $$ begin
    perform pg_sleep(60); return ''; exception when query_canceled then perform pg_sleep(60); return ''; end $$`)
  const given = { ...officeSource({ env: 'OFFICE' }), pool: 1, statement_timeout: 1 }
  const file = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
  const connections = openConnections(file, readConnectionConfig(file, { OFFICE: addressOf(office.connection) }))
  const ask = async (text: string) => {
    const state = await connections.begin()
    return state.run({ text, values: [] }, { isLast: true }).finally(() => state.end())
  }
  try {
    const rows = `select repeat('x', 100000) from generate_series(1, 10)`
    const failed = await ask(`${rows} union all select office.stall()`).catch((error) => error)
    expect(failed).toMatchObject({ name: 'SearchTimeout', seconds: 1, cause: { cause: { message: 'Query read timeout' } } })
    expect(connections.isAway()).toBe(true)
    await expect(ask('select 2')).rejects.toMatchObject({ name: 'RecordsUnavailable', cause: null })
    // After the pause another connection answers.
    await expect.poll(() => ask('select 2').catch(() => null)).toMatchObject({ rows: [['2']] })
    expect(connections.isAway()).toBe(false)
  } finally {
    await connections.close()
  }
})

test('what the operator wrote cannot write, whatever the account may do', async () => {
  await admin.query(`create function office.note() returns boolean language plpgsql as
    $$ begin insert into office.birth values ('B-9', 1); return true; end $$`)
  await admin.query(`create function office.unlock() returns boolean language plpgsql as
    $$ begin perform set_config('transaction_read_only', 'off', true); insert into office.birth values ('B-9', 1); return true; end $$`)
  const failure = (where: string) => reading({ where }, {}, (reader) => lookUp(reader).catch((error) => error))
  // read_only_sql_transaction; and the mode is fixed, because the transaction has begun to read.
  expect(await failure('office.note()')).toMatchObject({ cause: { code: '25006' } })
  expect(await failure('office.unlock()')).toMatchObject({ code: '25001' })
  expect((await admin.query('select from office.birth')).rowCount).toBe(0)
})

test('what the operator wrote has no effect beyond its statement', async () => {
  await admin.query(`create function office.relax() returns boolean language plpgsql as $$ begin
    if coalesce(current_setting('office.relaxed', true), '') = '' then
      perform set_config('default_transaction_read_only', 'off', false), set_config('statement_timeout', '0', false),
        set_config('datestyle', 'German', false), set_config('office.relaxed', 'yes', false);
    end if;
    return true; end $$`)
  const where = `case when national_no = 'A1' then office.relax() end`
  const more = { columns: { 'identifier[UIN]': 'national_no', birth_date: 'born' }, children: [], compare: {} }
  await reading({ where, ...more }, { pool: 1 }, async (reader) => {
    expect(await lookUp(reader)).toBe(1)
    const all = { recordType, predicate: null, since: null, after: null, limit: 1 }
    const [record] = await reader.page(registry, all)
    expect(JSON.parse(record?.document ?? '')).toMatchObject({ birth_date: '1985-06-12' })
  })
  // The second statement on the connection, as the first one would have left it.
  for (const [then, code] of [
    ['office.note()', '25006'],
    ['pg_sleep(60) is not null', '57014'],
  ]) {
    const twice = `case when current_setting('office.relaxed', true) = 'yes' then ${then} else ${where} end`
    await reading({ where: twice, ...more }, { pool: 1, statement_timeout: 0.5 }, async (reader) => {
      expect(await lookUp(reader)).toBe(1)
      const failed = await lookUp(reader).catch((error) => error)
      expect(failed.cause.code ?? failed.cause.cause.code).toBe(code)
    })
  }
})

test('a comment in a condition ends with it', async () => {
  expect(await reading({ where: 'removed_at is null -- and nothing else' }, {}, lookUp)).toBe(1)
})

test('while a column is missing the records are away, and they are back with it', async () => {
  await reading({}, {}, async (reader) => {
    expect(await lookUp(reader)).toBe(1)
    await admin.query('alter table office.person rename column born to birthday')
    await expect(lookUp(reader)).rejects.toBeInstanceOf(RecordsUnavailable)
    await admin.query('alter table office.person rename column birthday to born')
    expect(await lookUp(reader)).toBe(1)
  })
})

test('times have the zone of the file, and infinite days are none', async () => {
  await admin.query("update office.person set removed_at = '2024-06-30T23:30:00Z', born = 'infinity'")
  const more = {
    where: 'true',
    columns: { 'identifier[UIN]': 'national_no', birth_date: 'born', registration_date: 'removed_at' },
    compare: { birth_date: 'date', registration_date: 'date' },
  }
  const documents = (reader: RecordReader) =>
    reader.page(registry, { recordType, predicate: null, since: null, after: null, limit: 1 })
  const [record] = await reading(more, { time_zone: 'Africa/Nairobi' }, documents)
  expect(JSON.parse(record?.document ?? '')).toEqual({
    identifier: [{ identifier_type: 'UIN', identifier_value: 'A1' }],
    registration_date: '2024-07-01 02:30:00+03',
  })
})

test.each([
  ['Africa/Monrovia', '1970-05-01 00:44:30+00', '1970-05-01 00:00:00-00:44', '1970-05-01T00:44:00.000Z'],
  ['America/Bogota', '9999-12-31 23:59:59-05', '9999-12-31 23:59:59', '9999-12-31T23:59:59.000Z'],
  ['Asia/Dhaka', '9999-12-31 23:59:59+00', '9999-12-31 23:59:59', '9999-12-31T23:59:59.000Z'],
  ['Asia/Kathmandu', '0001-01-01 00:00:00+05:41:16', '0001-01-01 00:00:00', '0001-01-01T00:00:00.000Z'],
])('the offset of a time in %s leaves no row out: %s', async (time_zone, time, text, instant) => {
  await admin.query('update office.person set removed_at = $1', [time])
  const more = {
    where: 'true',
    columns: { 'identifier[UIN]': 'national_no', birth_date: 'removed_at', registration_date: 'removed_at' },
    compare: { birth_date: 'date', registration_date: 'date' },
  }
  const [from, to] = [text.slice(0, 10), text.slice(0, 10)]
  const asked = [compared('birth_date', { from, to }), compared('registration_date', { from: instant, to: instant })]
  const page = { sort: [], limit: 10, offset: 0, cap: 10 }
  const [[record], { total }] = await reading(more, { time_zone }, async (reader) => [
    await reader.page(registry, { recordType, predicate: null, since: null, after: null, limit: 1 }),
    await reader.find(registry, { recordType, predicate: { is: 'and', of: asked }, page }),
  ])
  const identifier = [{ identifier_type: 'UIN', identifier_value: 'A1' }]
  expect(JSON.parse(record?.document ?? '')).toEqual({ identifier, birth_date: text, registration_date: text })
  expect(total).toBe(1)
})
