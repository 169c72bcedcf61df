import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { deleteRecords } from '@rollcall/admin/records/records'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { withTransaction } from '@rollcall/database/transaction'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { insertSubscription } from '../../delivery/test/subscriptions.ts'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { type EventMode, type ImportOptions, importFile } from './import-file.ts'

let database: TestDatabase
let registry: Registry
let directory: string
const now = new Date('2026-06-15T09:00:00Z')
const limits = DEFAULT_LIMITS

beforeAll(async () => {
  database = await testDatabase()
  directory = await mkdtemp(join(tmpdir(), 'rollcall-events-'))
  registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
  // To every Death.
  await withTransaction(database.db.pool, async (client) => {
    const id = await insertSubscription(client, registry.id, { event_type: 'Death', record_type: 'Person' }, '{}')
    await client.query(`insert into subscription_key values ($1, 'Death', 'Person', '', $2, true)`, [registry.id, id])
  })
})
afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})
beforeEach(() => database.db.pool.query('truncate r1_person, r1_person_identifier, event, import_progress cascade'))

const person = (uin: string, members: object = {}): string =>
  `${JSON.stringify({ identifier: [{ identifier_type: 'UIN', identifier_value: uin }], ...members })}\n`

function load(lines: string | readonly string[], mode?: EventMode, more: ImportOptions = {}) {
  const source = typeof lines === 'string' ? lines : Readable.from(lines.map((line) => Buffer.from(line)))
  const events = { limits, now: () => now, ...(mode && { mode }) }
  return importFile(database.db, registry, source, { format: 'ndjson', events, ...more })
}

const rows = async (statement: string) => (await database.db.pool.query(statement)).rows
const events = async () =>
  (await rows('select event_type, matched from event order by id')).map(({ event_type, matched }) =>
    matched === 0 ? event_type : `${event_type} to ${matched}`,
  )

test('the first load is silent, and what changes later is an event', async () => {
  expect(await load([person('1'), person('2'), person('3')])).toMatchObject({ events: 'none', written: 3 })
  expect(await events()).toEqual([])

  const changed = [
    person('1', { death_date: '2026-06-14' }),
    person('2'),
    person('3', { sex: 'F' }),
    person('4', { birth_date: '2026-06-01' }),
  ]
  expect(await load(changed)).toMatchObject({ events: 'changes', replaced: 3 })
  expect(await events()).toEqual(['Death to 1', 'UPDATE', 'LiveBirth'])
  expect(await rows('select presence, purpose from notification')).toEqual([{ presence: 'stayed', purpose: 'event' }])
})

test('of several lines about one person the last one stands, and is one event', async () => {
  await load([person('1')])
  await load([person('1', { death_date: '2026' }), person('1', { sex: 'F' })])
  expect(await events()).toEqual(['UPDATE'])
})

test('of several rows of a table about one person the first one stands, and is the event', async () => {
  const table = 'No,Sex,Death\n1,F,2026-06-14\n1,M,\n'
  const mapping = { 'identifier[UIN]': 'No', sex: 'Sex', death_date: 'Death' }
  await load([person('1')])
  expect(await load([table], 'changes', { format: 'csv', mapping })).toMatchObject({ written: 1, rejected: 1 })
  expect(await events()).toEqual(['Death to 1'])
})

test('either can be asked for', async () => {
  await load([person('1', { death_date: '2026-06-14' })], 'changes')
  expect(await events()).toEqual(['Death to 1'])
  await load([person('1')], 'none')
  expect(await events()).toEqual(['Death to 1'])
})

test('an interrupted first load stays silent when it is resumed', async () => {
  const path = join(directory, 'people.ndjson')
  await writeFile(path, ['1', '2', '3', '4'].map((uin) => person(uin)).join(''))
  const stop = new AbortController()
  const options = { batchEntries: 1, signal: stop.signal, onProgress: () => stop.abort() }
  expect(await load(path, undefined, options)).toMatchObject({ finished: false, events: 'none' })
  expect(await load(path)).toMatchObject({ finished: true, events: 'none', written: 4 })
  expect(await events()).toEqual([])
})

test('every event of an import has the second of its start, whichever batch it is in and after an interruption', async () => {
  const path = join(directory, 'deaths.ndjson')
  const uins = ['1', '2', '3', '4']
  await load(uins.map((uin) => person(uin)))
  await load([person('2', { death_date: '2026-06-14' })])
  const [{ version }] = await rows('select record_version::float8 as version from event')
  await writeFile(path, uins.map((uin) => person(uin, { death_date: '2026-06-13' })).join(''))
  const stop = new AbortController()
  await load(path, undefined, { batchEntries: 1, signal: stop.signal, onProgress: () => stop.abort() })
  // As if it had begun earlier.
  const began = new Date('2026-06-15T08:00:00Z')
  await database.db.pool.query('update import_progress set run = $1', [began.getTime() * 1_000 + 123_456])
  await database.db.pool.query(`delete from event where record_version <> $1`, [version])
  expect(await load(path, undefined, { batchEntries: 1 })).toMatchObject({ finished: true, resumedFrom: 1 })
  const left = { recorded_at: began, occurred_at: began }
  const begun = { event_type: 'Death', version: began.getTime() * 1_000, ...left }
  expect(
    await rows(`select event_type, record_version::float8 as version, recorded_at, occurred_at from event
      where recorded_at < '2026-06-16' order by id`),
  ).toEqual([
    { event_type: 'CORRECTION', version: version + 1, ...left },
    { event_type: 'UPDATE', version: version + 1, ...left },
    begun,
    begun,
  ])
})

test('every deletion of one command has the second of its start', async () => {
  await load(Array.from({ length: 1_001 }, (_, at) => person(`D-${at}`)))
  let minutes = 0
  const ticking = () => new Date(now.getTime() + 60_000 * minutes++)
  const identifiers = Array.from({ length: 1_001 }, (_, at) => `D-${at}`)
  const named = { namespace: 'civil', record_type: 'Person', identifiers }
  expect(await deleteRecords(acting({ db: database.db, limits, now: ticking }), named)).toMatchObject({ deleted: 1_001 })
  expect(await rows('select count(*), recorded_at, record_version::float8 as version from event group by 2, 3')).toEqual([
    { count: 1_001, recorded_at: now, version: now.getTime() * 1_000 },
  ])
})

test('a batch that fails leaves neither records nor events', async () => {
  await load([person('1')])
  await database.db.pool.query(`alter table event add constraint refused check (event_type <> 'Death')`)
  try {
    const loading = load([person('1', { death_date: '2026-06-14' }), person('2')])
    await expect(loading).rejects.toMatchObject({ code: '23514', constraint: 'refused' })
  } finally {
    await database.db.pool.query('alter table event drop constraint refused')
  }
  expect(await events()).toEqual([])
  expect(await rows('select primary_identifier from r1_person')).toEqual([{ primary_identifier: '1' }])
})
