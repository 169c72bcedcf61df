/** Registries that get another source file, and read their records in another way from then on. */

import { randomUUID } from 'node:crypto'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import { openDatabase } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { addParticipant } from '@rollcall/participants/store/participants'
import { protectPerson } from '@rollcall/records/records/protect-person'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry, requireRegistry } from '@rollcall/records/registries/registries'
import { addAttribute, removeAttribute } from '@rollcall/records/registries/registry-attributes'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { insertEvents } from '../../delivery/src/store/events/events.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { copiedPeople, makeMirroredOffice, mirroredRegistry, polledSource } from '../test/mirrored-office.ts'
import { officeReader, officeSource } from '../test/office.ts'
import { changeSource } from './change-source.ts'
import { type RunningFollowers, startFollowers } from './mirror/followers.ts'
import { removeMirrorRemains } from './mirror/left-sources.ts'
import { openSources } from './open-sources.ts'
import { findMirrorRemains } from './store/changed-sources.ts'

const PEOPLE = [
  { person_no: 7, national_no: 'A1', family_name: 'Okoro' },
  { person_no: 9, national_no: 'A2', family_name: 'Hidden' },
]
const LIVE = officeSource({ env: 'READER' })
const MIRROR = polledSource({ env: 'READER' })

let database: TestDatabase
let empty: Awaited<ReturnType<typeof emptyDatabase>>
let office: pg.Client
let env: Record<string, string>
let sources: ReturnType<typeof openSources>
let running: RunningFollowers[]
beforeEach(async () => {
  database = await testDatabase()
  empty = await emptyDatabase()
  office = await makeMirroredOffice(empty.connection, PEOPLE)
  env = { READER: await officeReader(empty.connection) }
  sources = openSources(database.db, env)
  running = []
})
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()))
  await sources.close()
  await office.end()
  await database.close()
  await empty.drop()
})

const log = { warn: () => undefined, info: () => undefined }
const civil = () => requireRegistry(database.db, 'civil')
const registries = async () => [await civil()]
const follow = () =>
  running.push(startFollowers({ db: database.db, env, limits: { ...DEFAULT_LIMITS, node_lease: 2 }, log, registries }))
const change = async (source: object) => changeSource(database.db, await civil(), source)
const uins = async () => Object.keys(await copiedPeople(database.db).catch(() => ({}))).toSorted()
const rows = async (text: string) => (await database.db.pool.query({ text, rowMode: 'array' })).rows

/** The ids of all people, by the order of their identifiers. */
async function ids(): Promise<readonly string[]> {
  const registry = await civil()
  const [recordType] = registry.kind.record_types
  const query = { recordType, predicate: null, since: null, after: null, limit: 10 }
  const found = await recordsOf(database.db, registry).within(database.db.pool).page(registry, query)
  return found.toSorted((one, other) => (one.document < other.document ? -1 : 1)).map(({ id }) => id)
}

/** An event of a record, and an answer with a further page. */
async function keep(record: string, pages: readonly string[]): Promise<void> {
  const { db } = database
  const { id } = await civil()
  const event = { event_type: 'UPDATE', record_type: 'Person', record, occurred_at: new Date(), recorded_at: new Date() }
  const [[number = 1] = []] = await rows('select coalesce(max(id), 0)::int + 1 from event')
  await withTransaction(db.pool, (client) =>
    insertEvents(client, id, [{ ...event, id: Number(number), record_version: Number(number) }]),
  )
  if (pages.length === 0) return
  const [participant] = (await rows(`select id from participant`))[0] ?? [
    (await addParticipant(db, { sender_id: 'a.example', name: 'A' })).id,
  ]
  const exchange = randomUUID()
  await db.pool.query(
    `insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id, encrypted,
       request, items, state) values ($1, $2, $3, 'search', 'm', 't', false, '', 1, 'replying')`,
    [exchange, participant, id],
  )
  await db.pool.query(
    `insert into exchange_item (correlation_id, participant, position, reference_id, status, total, page_size,
       record_type, record_ids, record_keys) values ($1, $2, 0, 'r', 'succ', 3, 1, 'Person', '{}', $3)`,
    [exchange, participant, pages],
  )
}
const kept = () => rows('select record_ids::text[], record_keys from exchange_item')
const eventIds = async () => (await rows('select coalesce(record_key, record::text) from event order by id')).flat()

test('live, copied and live again: what is kept of records stays theirs, and old copies go', async () => {
  await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example', source: LIVE })
  await withTransaction(database.db.pool, async (client) =>
    protectPerson(client, await civil(), {
      identifier: { type: 'UIN', value: 'A2' },
      category: 'shelter',
      reason: 'Order 7',
      bearer: null,
    }),
  )
  expect(await ids()).toEqual(['=7', '=9'])
  await keep('=9', ['=9', '=8', '=7'])
  await keep('=8', [])
  await change(MIRROR)
  await expect(copiedPeople(database.db)).rejects.toBeInstanceOf(RecordsUnavailable)
  expect(await eventIds()).toEqual(['=9', '=8'])
  follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  const [one = '', two = ''] = await ids()
  expect([one, two].every((id) => /^\d+$/.test(id))).toBe(true)
  // A person who is gone is nobody's record.
  expect([await eventIds(), await kept()]).toEqual([[two, '=8'], [[[two, '0', one], null]]])
  const registry = await civil()
  const [recordType] = registry.kind.record_types
  const reader = recordsOf(database.db, registry).within(database.db.pool)
  expect([...(await reader.categories(registry, recordType, [one, two]))]).toEqual([[two, ['shelter']]])

  await keep('999', [])
  await rows(`insert into record_tombstone (registry, record_type, record, primary_identifier)
    values (${registry.id}, 'Person', 77, 'A0')`)
  await expect.poll(async () => (await change(LIVE).catch(({ message }) => message)) ?? 'changed').toBe('changed')
  expect(await ids()).toEqual(['=7', '=9'])
  expect([await eventIds(), await kept()]).toEqual([['=9', '=8', '-999'], [[[], ['=9', '=', '=7']]]])
  // A page that was found before cannot be read any more, and is not one with fewer people.
  const live = recordsOf(database.db, await civil()).source.reader('sync')
  await expect(live.read(registry, recordType, [one])).rejects.toThrow('records were found before they were read live')

  const copies = async () => (await rows(`select 1 from pg_class where relkind = 'r' and relname like 'r%\\_person'`)).length
  const clear = async () =>
    removeMirrorRemains({ db: database.db, env, log, registries }, await findMirrorRemains(database.db.pool))
  await clear()
  expect(await copies()).toBeGreaterThan(0)
  await rows(`update source_mirror set left_at = left_at - interval '2 minutes'`)
  await clear()
  expect([await copies(), await findMirrorRemains(database.db.pool)]).toEqual([0, []])
  const left = ['source_row', 'protected_record', 'record_tombstone'].map((table) => `select 1 from ${table}`)
  expect(await rows(left.join(' union all '))).toEqual([])

  await change(MIRROR)
  await expect.poll(uins).toEqual(['A1', 'A2'])
})

test('a way is changed back before its copies are there, and before the old ones have gone', async () => {
  await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example', source: LIVE })
  await keep('=9', [])
  await change(MIRROR)
  await change({ ...MIRROR, events: 'none' })
  expect(await civil()).toMatchObject({ own_records: true, awaits_records: true })
  await change(LIVE)
  expect([await ids(), await eventIds()]).toEqual([['=7', '=9'], ['=9']])
  await change(MIRROR)
  follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  await office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  await expect.poll(uins).toEqual(['A1', 'A2', 'A3'])
})

test('the copies of a large registry go, however long it takes', async () => {
  const { id } = await mirroredRegistry(database.db, MIRROR)
  await rows(`insert into source_row (registry, record_type, key, seen) values (${id}, 'Person', '1', 0)`)
  await rows(`insert into source_mirror (registry, left_at) values (${id}, now() - interval '2 minutes')`)
  const owner = new pg.Client(database.owner)
  await owner.connect()
  await owner.query(`create function take_long() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.2); return null; end $$;
    create trigger long before delete on source_row for each statement execute function take_long()`)
  await owner.end()
  const limited = openDatabase({ ...database.db.connection, statement_timeout: 50 })
  try {
    await removeMirrorRemains({ db: limited, env, log, registries }, await findMirrorRemains(database.db.pool))
  } finally {
    await limited.close()
  }
  expect(await rows('select 1 from source_row union all select 1 from source_mirror')).toEqual([])
})

test('a source file that does not fit its registry any more is replaced, and its slot goes', async () => {
  await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  await addAttribute(database.db, 'civil', 'Person', { name: 'clan', type: 'text', paths: ['clan'] })
  const { Person } = LIVE.records as { Person: { columns: object } }
  const mapped = { ...LIVE, records: { Person: { ...Person, columns: { ...Person.columns, clan: 'given_name' } } } }
  await rows(`update registry set source = '${JSON.stringify(mapped)}', own_records = false where namespace = 'civil'`)
  await removeAttribute(database.db, 'civil', 'Person', 'clan')
  await expect(ids()).rejects.toBeInstanceOf(RecordsUnavailable)
  await change(LIVE)
  expect(await ids()).toEqual(['=7', '=9'])

  const { id } = await civil()
  const abandoned = JSON.stringify([{ source: mapped, position: { log: '0/0' } }])
  await rows(`insert into source_mirror (registry, abandoned) values (${id}, '${abandoned}')`)
  await removeMirrorRemains({ db: database.db, env, log, registries }, await findMirrorRemains(database.db.pool))
  expect(await findMirrorRemains(database.db.pool)).toEqual([])
})

test('what would lose the ids of records is refused, and so is a source for our own tables', async () => {
  await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  await expect(change(LIVE)).rejects.toThrow(
    'the records of civil are in our own tables; add a registry at another namespace for those of a source',
  )
  await mirroredRegistry(database.db, MIRROR, 'other')
  const other = await requireRegistry(database.db, 'other')
  const awaits = (now: boolean) => rows(`update registry set awaits_records = ${now} where namespace = 'other'`)
  await awaits(false)
  await expect(changeSource(database.db, { ...other, awaits_records: false }, LIVE)).rejects.toThrow(
    'way: the records of other are being compared with their source; they can be read live when rollcall source status other says that it is followed',
  )
  await awaits(true)
  const keyed = { ...LIVE, records: { Person: { ...Object(LIVE).records.Person, key: 'national_no' } } }
  await expect(changeSource(database.db, other, keyed)).rejects.toThrow(
    'records.Person.key: must stay person_no, because ids of records are kept; a registry with another key is removed and added again',
  )
  await changeSource(database.db, other, LIVE)
  await expect(changeSource(database.db, other, MIRROR)).rejects.toThrow(
    'the source of other was changed by somebody else meanwhile; look at it again',
  )
})
