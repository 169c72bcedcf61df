import { publishOutbox, retryOutbox, showOutbox } from '@rollcall/admin/events/outbox'
import { openDatabase } from '@rollcall/database/database'
import { NUMBER_RULE } from '@rollcall/protocol'
import { addAttribute, removeAttribute } from '@rollcall/records/registries/registry-attributes'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { type TestServer, testServer } from '../../server.ts'

let server: TestServer
const query = (text: string, values: unknown[] = []) => server.database.db.pool.query(text, values)
const { signal } = new AbortController()
const publish = () => publishOutbox(server.context, signal)

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
})
afterAll(() => server.close())
afterEach(() => query('delete from rollcall_outbox.event'))

const person = (uin: string, more: object = {}) => ({
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  ...more,
})

async function insert(columns: Readonly<Record<string, unknown>>): Promise<void> {
  const all = { namespace: 'civil', reg_event_type: 'LiveBirth', ...columns }
  const names = Object.keys(all)
  const places = names.map((_, at) => `$${at + 1}`)
  const values = Object.values(all).map((value) => (typeof value === 'object' ? JSON.stringify(value) : value))
  await query(`insert into rollcall_outbox.event (${names.join(', ')}) values (${places.join(', ')})`, values)
}

const eventIds = async (): Promise<string[]> =>
  (await query('select event_id from event order by id')).rows.map(({ event_id }) => event_id)

test('rows are published in their order, and are gone', async () => {
  for (const number of [1, 2, 3]) await insert({ record: person('A'), event_id: `order-${number}` })
  await insert({
    reg_event_type: 'Death',
    record: person('A', { death_date: '2026-02-03' }),
    event_id: 'order-4',
    occurred_at: '2026-02-03T00:00:00Z',
    source_version: 7,
    remove: { identifier: [] },
  })
  await publish()
  expect((await eventIds()).filter((id) => id.startsWith('order-'))).toEqual([1, 2, 3, 4].map((number) => `order-${number}`))
  expect(await showOutbox(server.database, {})).toEqual({ waiting: 0, failed: [] })
  const { rows } = await query("select occurred_at, event_type from event where event_id = 'order-4'")
  expect(rows).toEqual([{ occurred_at: new Date('2026-02-03T00:00:00Z'), event_type: 'Death' }])
  const versions = await query('select primary_identifier, source_version::integer from record_source_version')
  expect(versions.rows).toEqual([{ primary_identifier: 'A', source_version: 7 }])
})

describe('a row that cannot be published says why, and stops no other', () => {
  test.each<[object, string]>([
    [{ namespace: 'nowhere' }, expect.stringMatching(/^namespace: there is no registry at nowhere; /)],
    [{ reg_event_type: 'Holiday' }, expect.stringMatching(/^reg_event_type: must be one of LiveBirth, /)],
    [{ record: '5' }, 'record: must be an object'],
    [{ record: '{"people": {"SECRET-1": {"sex": 1e400}}}' }, `record: ["*"]["*"].sex: ${NUMBER_RULE}`],
    [{ record: { '@type': 'Cow' } }, expect.stringMatching(/^record\.@type: must be one of Person/)],
    [{ record: person('X', { large: 'x'.repeat(9_000_000) }) }, expect.stringMatching(/^record: must be at most \d+ bytes$/)],
    [{ event_id: 'e'.repeat(256) }, 'event_id: must have at most 255 characters'],
    [{ source_version: -1 }, 'source_version: must be at least 0'],
    [{ corrects: 'order-1' }, 'corrects: goes with reg_event_type CANCEL and CORRECTION alone'],
    [{ remove: '[]' }, 'remove: must be an object'],
    [{ remove: { identifier: ['x'.repeat(9_000_000)] } }, expect.stringMatching(/^remove: must be at most \d+ bytes$/)],
    ...['infinity', '-infinity', '294276-01-01', '10000-01-01', '0044-03-15 BC'].map((occurred_at): [object, string] => [
      { occurred_at },
      'occurred_at: must lie in the years 1 to 9999',
    ]),
  ])('%#', async (columns, failure) => {
    await insert({ record: person('SECRET-1'), ...columns })
    await insert({ record: person('G'), event_id: `after-${JSON.stringify(columns).slice(0, 40)}` })
    await publish()
    const { waiting, failed } = await showOutbox(server.database, {})
    expect([waiting, failed.map((row) => row.failure)]).toEqual([0, [failure]])
    expect(JSON.stringify(failed)).not.toContain('SECRET-1')
    expect((await eventIds()).at(-1)).toMatch(/^after-/)
  })
})

describe('a failure of the database', () => {
  /** Writing a record fails so, while the test runs. */
  async function failing(sqlstate: string): Promise<void> {
    await query(`create function fails() returns trigger language plpgsql as
      $$ begin raise exception 'SECRET-2' using errcode = '${sqlstate}'; end $$`)
    await query('create trigger fails before insert on r1_person for each row execute function fails()')
  }
  afterEach(() => query('drop function fails cascade'))

  test.each(['42501', 'XX000', 'P0001'])('that is no passing one puts the row aside (%s)', async (sqlstate) => {
    await failing(sqlstate)
    await insert({ record: person('SECRET-1') })
    await publish()
    const failure = 'the server failed to publish it; the failure is logged'
    expect(await showOutbox(server.database, {})).toMatchObject({ waiting: 0, failed: [{ failure }] })
    expect(server.logged()).toContain(`"sqlstate":"${sqlstate}"`)
    expect(server.logged()).not.toContain('SECRET')
  })

  test('that names a missing column is tried again first', async () => {
    await failing('42703')
    await insert({ record: person('SECRET-1') })
    for (let times = 1; times <= 9; times += 1) await publish()
    expect(await showOutbox(server.database, {})).toEqual({ waiting: 1, failed: [] })
    await publish()
    const failure = 'the server failed to publish it; the failure is logged'
    expect(await showOutbox(server.database, {})).toMatchObject({ waiting: 0, failed: [{ failure }] })
  })

  test.each(['40P01', '40001', '55P03', '53100', '08006'])('that may pass leaves it first (%s)', async (sqlstate) => {
    await failing(sqlstate)
    await insert({ record: person('SECRET-1') })
    await expect(publish()).rejects.toMatchObject({ code: sqlstate })
    expect(await showOutbox(server.database, {})).toEqual({ waiting: 1, failed: [] })
  })

  test('a row that takes too long is tried ten times, and then put aside', async () => {
    await failing('57014')
    await insert({ record: person('SECRET-1') })
    for (let times = 1; times <= 9; times += 1) await publish()
    expect(await showOutbox(server.database, {})).toEqual({ waiting: 1, failed: [] })
    await publish()
    const { waiting, failed } = await showOutbox(server.database, {})
    const failure = 'publishing it took longer than a statement may (30 seconds), 10 times'
    expect([waiting, failed]).toMatchObject([0, [{ failure }]])
    await retryOutbox(acting(server.database), {})
    await publish()
    expect((await showOutbox(server.database, {})).waiting).toBe(1)
  })
})

test('a row that PostgreSQL cannot write as text is put aside, and stops no other', async () => {
  await query('alter table rollcall_outbox.event rename to stored')
  await query(`create function rollcall_outbox.too_long(value jsonb) returns jsonb language plpgsql immutable as
    $$ begin raise exception 'SECRET-3' using errcode = '54000'; end $$`)
  // A text above 1 GB has this error. The view has it sooner.
  await query(`create view rollcall_outbox.event as select id, namespace, reg_event_type,
      case when event_id = 'too-long' then rollcall_outbox.too_long(record) else record end as record,
      record_type, event_id, occurred_at, source_version, replace, remove, corrects, created_at, failure, failed_at, timeouts
    from rollcall_outbox.stored`)
  try {
    const into = 'insert into rollcall_outbox.stored (namespace, reg_event_type, record, event_id) values'
    await query(`${into} ('civil', 'LiveBirth', '{}', 'too-long'), ('civil', 'LiveBirth', $1, 'after-too-long')`, [
      JSON.stringify(person('T')),
    ])
    await publish()
    const { waiting, failed } = await showOutbox(server.database, {})
    const failure = expect.stringMatching(/^record or remove: must be at most \d+ bytes$/)
    expect([waiting, failed]).toEqual([0, [expect.objectContaining({ failure })]])
    expect((await eventIds()).at(-1)).toBe('after-too-long')
    expect(server.logged()).not.toContain('SECRET-3')
  } finally {
    await query('drop view rollcall_outbox.event')
    await query('drop function rollcall_outbox.too_long')
    await query('alter table rollcall_outbox.stored rename to event')
  }
})

test('a row that waited for the removal of an attribute is published, and no later one overtakes it', async () => {
  const { db } = server.database
  await addAttribute(db, 'civil', 'Person', { name: 'clan', type: 'text', paths: ['clan'] })
  const reader = new pg.Client(server.database.connection)
  await reader.connect()
  await reader.query('begin')
  await reader.query('select from r1_person limit 1')
  const waiting = async () =>
    (await query("select from pg_locks where not granted and relation = 'r1_person'::regclass")).rowCount
  const removal = removeAttribute(db, 'civil', 'Person', 'clan')
  await expect.poll(waiting).toBe(1)
  await insert({ record: person('R', { clan: 'one' }), event_id: 'removal-1' })
  await insert({ record: person('R', { clan: 'two' }), event_id: 'removal-2' })
  const published = publish()
  await expect.poll(waiting).toBe(2)
  await reader.query('commit')
  await Promise.all([removal, published, reader.end()])
  expect(await showOutbox(server.database, {})).toEqual({ waiting: 2, failed: [] })
  await publish()
  expect(await showOutbox(server.database, {})).toEqual({ waiting: 0, failed: [] })
  expect((await eventIds()).slice(-2)).toEqual(['removal-1', 'removal-2'])
})

test('what failed is tried again when the operator says so', async () => {
  await insert({ namespace: 'later', record: person('L'), event_id: 'retried' })
  await publish()
  const { failed } = await showOutbox(server.database, {})
  expect(await retryOutbox(acting(server.database), { ids: ['0'] })).toEqual({ retried: 0 })
  await server.registry('civil', [], 'later')
  expect(await retryOutbox(acting(server.database), { ids: failed.map(({ id }) => id) })).toEqual({ retried: 1 })
  await publish()
  expect((await eventIds()).at(-1)).toBe('retried')
})

test('several nodes publish each row once, in order', async () => {
  const others = [1, 2].map(() => openDatabase(server.database.connection))
  const ids = Array.from({ length: 40 }, (_, at) => `node-${String(at).padStart(2, '0')}`)
  for (const event_id of ids) await insert({ record: person('N'), event_id })
  await Promise.all([publish(), ...others.map((db) => publishOutbox({ ...server.context, db }, signal))])
  // A node that found another one at work has left the rest to it.
  await publish()
  expect((await eventIds()).filter((id) => id.startsWith('node-'))).toEqual(ids)
  await Promise.all(others.map((db) => db.close()))
})

test('a node that ends in between leaves the row to the next one', async () => {
  await insert({ record: person('K'), event_id: 'killed' })
  const client = new pg.Client(server.database.connection)
  await client.connect()
  await client.query('begin')
  await client.query("select pg_advisory_xact_lock(hashtext('rollcall outbox'), 0)")
  await publish()
  expect((await showOutbox(server.database, {})).waiting).toBe(1)
  await client.end()
  await expect
    .poll(async () => {
      await publish()
      return (await eventIds()).at(-1)
    })
    .toBe('killed')
})

test('the role of writers may insert, and nothing else', async () => {
  const client = new pg.Client(server.database.owner)
  await client.connect()
  const tried = (text: string) =>
    client.query(text).then(
      () => 'done',
      (error: { code: string }) => error.code,
    )
  try {
    await client.query('set role rollcall_outbox_writer')
    const columns = 'namespace, reg_event_type, record'
    const values = `'civil', 'LiveBirth', '${JSON.stringify(person('W'))}'`
    const denied = '42501'
    expect(await tried(`insert into rollcall_outbox.event (${columns}) values (${values})`)).toBe('done')
    expect(await tried(`insert into rollcall_outbox.event (${columns}, failure) values (${values}, '')`)).toBe(denied)
    expect(await tried('select * from rollcall_outbox.event')).toBe(denied)
    expect(await tried('update rollcall_outbox.event set failure = null')).toBe(denied)
    expect(await tried('delete from rollcall_outbox.event')).toBe(denied)
    expect(await tried('select * from participant')).toBe(denied)
    expect(await tried('create table rollcall_outbox.mine (id integer)')).toBe(denied)
  } finally {
    await client.end()
  }
  await publish()
  expect((await showOutbox(server.database, {})).waiting).toBe(0)
})

test('a worker publishes a row as soon as it has come', async () => {
  const working = await testServer({ ROLLCALL_ROLE: 'worker' })
  await working.registry('civil')
  const { pool } = working.database.db
  await pool.query(`insert into rollcall_outbox.event (namespace, reg_event_type, record) values ('civil', 'LiveBirth', $1)`, [
    JSON.stringify(person('Q')),
  ])
  await expect.poll(async () => (await pool.query('select from event')).rowCount).toBe(1)
  await working.close()
})
