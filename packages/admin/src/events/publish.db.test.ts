import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { inTransaction, withTransaction } from '@rollcall/database/transaction'
import { isJsonObject, type JsonObject } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { writeRecords } from '@rollcall/records/records/record-writer'
import { addRegistry } from '@rollcall/records/registries/registries'
import type { Static } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { takeEventIdsAndVersions } from '../../../delivery/src/store/events/events.ts'
import { type SubscriptionChanges, subscribeLive } from '../../../delivery/test/subscriptions.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { mergeRecords } from '../records/merge.ts'
import { deleteRecords } from '../records/records.ts'
import { publishEvent } from './publish.ts'

let database: TestDatabase
let registry: Registry
let now = new Date('2026-06-15T09:00:00Z')
beforeAll(async () => {
  database = await testDatabase()
  const { db } = database
  registry = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
})
afterAll(() => database.close())
beforeEach(async () => {
  now = new Date('2026-06-15T09:00:00Z')
  await database.db.pool.query(
    'truncate event, subscription, mailbox, record_source_version, r1_person, r1_person_identifier cascade',
  )
})

type Input = Static<(typeof publishEvent)['input']>
const limits = DEFAULT_LIMITS
const deps = () => ({ db: database.db, limits, now: () => now })
const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })
const person = (members: JsonObject = {}, uin = 'U-44') => ({ identifier: [id('UIN', uin)], ...members })

const publish = (reg_event_type: string, record: JsonObject, more: Partial<Input> = {}) =>
  publishEvent(acting(deps()), { namespace: 'civil', reg_event_type, record, ...more })

const subscribe = (type: string, filter?: JsonObject, more: SubscriptionChanges = {}) =>
  subscribeLive(database.db, registry, type, filter, more)

const rows = async (statement: string, ...values: unknown[]) => (await database.db.pool.query(statement, values)).rows

const events = () => rows('select id, event_type, matched, reversed_by from event order by id')
const notifications = () => rows('select subscription, presence, purpose, corrects, due_at from notification order by id')
async function stored(uin = 'U-44'): Promise<JsonObject | null> {
  const [row] = await rows('select document from r1_person where primary_identifier = $1', uin)
  const document: unknown = row === undefined ? null : JSON.parse(row.document)
  return isJsonObject(document) ? document : null
}

describe('a published event', () => {
  test('makes the record, is the event that it is named, and says how many are notified', async () => {
    const [all, other] = [await subscribe('Marriage'), await subscribe('UPDATE')]
    const answer = await publish('spdci-common:RegistryEventType:Marriage', person({ '@type': 'CRVSPerson', death_date: '2026' }))
    expect(answer).toEqual({ id: expect.any(Number), matched: 1 })
    expect(await events()).toEqual([{ id: answer.id, event_type: 'Marriage', matched: 1, reversed_by: null }])
    expect(await notifications()).toMatchObject([{ subscription: all, presence: 'entered', purpose: 'event' }])
    expect(other).not.toBe(all)
    expect(await stored()).toMatchObject({ death_date: '2026' })
  })

  test('is merged: the public example of a death leaves all three identifiers', async () => {
    const identifier = [id('UIN', 'U-44'), id('BRN', 'B-1'), id('NID', 'N-1')]
    await publish('REGISTER', { identifier, name: { surname: 'Okoro' }, sex: 'F' })
    await publish('Death', person({ death_date: '2026-02-02T11:00:00Z', sex: null }))
    expect(await stored()).toEqual({ identifier, name: { surname: 'Okoro' }, death_date: '2026-02-02T11:00:00Z' })
    await publish('UPDATE', person(), { remove: { identifier: [id('NID', 'n-1')] } })
    expect(await stored()).toMatchObject({ identifier: identifier.slice(0, 2) })
    await publish('UPDATE', person(), { replace: true })
    expect(await stored()).toEqual(person())
  })

  test('shows the record as it was at the event, and says who entered, stayed and left', async () => {
    const female = await subscribe('UPDATE', { sex: { eq: 'F' } })
    await publish('UPDATE', person({ sex: 'F' }))
    await publish('UPDATE', person({ name: { surname: 'Okoro' } }))
    await publish('UPDATE', person({ sex: 'M' }))
    await publish('UPDATE', person({ name: { surname: 'Ade' } }))
    expect(await notifications()).toMatchObject(
      ['entered', 'stayed', 'left'].map((presence) => ({ subscription: female, presence })),
    )
    const shown = await rows('select document::json, identifiers::json, record_version from event order by id')
    expect(shown.map(({ document }) => document)).toEqual([
      person({ sex: 'F' }),
      person({ sex: 'F', name: { surname: 'Okoro' } }),
      person({ sex: 'M', name: { surname: 'Okoro' } }),
      // Nobody is notified of it.
      null,
    ])
    expect(shown[2]?.identifiers).toEqual(person())
    expect(new Set(shown.map(({ record_version }) => record_version)).size).toBe(4)
  })

  test('leaves with the second in which it was published, and its version grows within it and where a clock was ahead', async () => {
    const last = async () => {
      const [row] = await rows('select record_version, occurred_at, recorded_at from event order by id desc limit 1')
      return { ...row, record_version: Number(row?.record_version) }
    }
    const second = new Date('2026-06-15T09:00:00Z')
    const version = second.getTime() * 1_000
    now = new Date('2026-06-15T09:00:00.750Z')
    await publish('UPDATE', person())
    expect(await last()).toEqual({ record_version: version, occurred_at: second, recorded_at: second })
    await publish('UPDATE', person())
    expect(await last()).toEqual({ record_version: version + 1, occurred_at: second, recorded_at: second })
    const ahead = version + 86_400_000_000
    await database.db.pool.query('update event set record_version = $1', [ahead])
    await publish('UPDATE', person())
    expect((await last()).record_version).toBe(ahead + 1)
    // The version of another record does not depend on this one.
    await publish('UPDATE', person({}, 'U-45'))
    expect((await last()).record_version).toBe(version)
  })

  test('that happened in a leap second has the time of the next second', async () => {
    await publish('UPDATE', person(), { occurred_at: '2016-12-31T23:59:60Z' })
    expect(await rows('select occurred_at from event')).toEqual([{ occurred_at: new Date('2017-01-01T00:00:00Z') }])
  })

  test('of a record that was deleted and is written again has a higher version than its deletion', async () => {
    const last = async () => Number((await rows('select record_version from event order by id desc limit 1'))[0]?.record_version)
    const remove = async () => {
      const named = { namespace: 'civil', record_type: 'Person', identifiers: ['U-44'] }
      expect(await deleteRecords(acting(deps()), named)).toMatchObject({ deleted: 1 })
      return last()
    }
    now = new Date()
    for (const reg_event_type of ['REGISTER', 'UPDATE', 'UPDATE']) await publish(reg_event_type, person())
    const deleted = await remove()
    await publish('REGISTER', person())
    expect(await last()).toBeGreaterThan(deleted)
    await remove()
    // Not after the deletion of somebody else.
    await publish('REGISTER', person({}, 'U-45'))
    expect(await last()).toBe(Math.floor(now.getTime() / 1_000) * 1_000_000)
  })

  test('two changes of one record at once have versions one after the other', async () => {
    const change = { record_type: 'Person', record: '7', new_identifier: null }
    const other = { ...change, record: '8' }
    await withTransaction(database.db.pool, async (client) => {
      await client.query(
        `insert into event (registry, event_type, record_type, record, record_version, occurred_at)
         values ($1, 'UPDATE', 'Person', 7, 9000000000000000, now())`,
        [registry.id],
      )
      const { versions } = await takeEventIdsAndVersions(client, registry.id, {
        events: 0,
        changes: [change, other, change, { ...change, record_type: 'Group' }],
        began: now,
      })
      expect(versions[0]).toBe(9_000_000_000_000_001)
      expect(versions[2]).toBe(9_000_000_000_000_002)
      expect([versions[1], versions[3]].every((one = 0) => one < 8_000_000_000_000_000)).toBe(true)
    })
  })

  test('what nodes of the version before still take from the sequence is not lower', async () => {
    const [row] = await rows(
      `select last_value > (extract(epoch from now() + interval '29 days') * 1000000)::bigint as later from record_version`,
    )
    expect(row).toEqual({ later: true })
  })

  test('an equal record is an event all the same', async () => {
    await publish('UPDATE', person())
    await publish('UPDATE', person())
    expect(await events()).toHaveLength(2)
  })

  test('waits for the next tick of a subscription that has a frequency', async () => {
    const [start_at, end_at] = [new Date('2026-06-01T00:00:00Z'), new Date('2026-06-16T00:00:00Z')]
    await subscribe('UPDATE', undefined, { cron: '0 0 12 * * * *', start_at, end_at })
    await publish('UPDATE', person())
    now = new Date('2026-06-15T13:00:00Z')
    await publish('UPDATE', person())
    expect((await notifications()).map(({ due_at }) => due_at)).toEqual([new Date('2026-06-15T12:00:00Z'), end_at])
  })

  test('with an event_id a repeat has the first answer, and other content is refused', async () => {
    await subscribe('UPDATE')
    const record = person({ name: { given_name: 'Ada' } })
    const first = await publish('UPDATE', record, { event_id: 'e-1' })
    const again = await Promise.all([1, 2, 3].map(() => publish('UPDATE', record, { event_id: 'e-1' })))
    expect(again).toEqual([first, first, first])
    expect(await events()).toHaveLength(1)
    await expect(publish('UPDATE', person(), { event_id: 'e-1' })).rejects.toMatchObject({
      name: 'AdminRefusal',
      message: 'event_id: something else was published under it before',
      reason: 'conflict',
    })
  })

  test('with a source_version an older one does not overwrite, and is still an event', async () => {
    const versions = [5, 4, 5, 6]
    for (const source_version of versions) {
      await publish('UPDATE', person({ note: source_version }), { source_version })
      expect(await stored()).toEqual(person({ note: Math.max(source_version, 5) }))
    }
    expect(await events()).toHaveLength(versions.length)
  })

  test('a source_version is forgotten with the record: whoever is registered again begins at any version', async () => {
    await publish('UPDATE', person({}, 'U-45'), { source_version: 58 })
    await publish('UPDATE', person(), { source_version: 57 })
    const merged = { namespace: 'civil', survivor: id('UIN', 'U-44'), retired: id('UIN', 'U-45') }
    await mergeRecords(acting(deps()), merged)
    const remove = (identifier: string) =>
      deleteRecords(acting(deps()), { namespace: 'civil', record_type: 'Person', identifiers: [identifier] })
    expect(await remove('U-45')).toMatchObject({ deleted: 0 })
    expect(await rows('select * from record_source_version')).toHaveLength(2)
    await remove('U-44')
    expect(await rows('select * from record_source_version')).toEqual([])
    for (const source_version of [1, 2]) await publish('UPDATE', person({ note: source_version }), { source_version })
    expect(await stored()).toEqual(person({ note: 2 }))
  })

  test('says when it occurred', async () => {
    await publish('UPDATE', person(), { occurred_at: '2026-06-14T09:00:00Z' })
    expect(await rows('select occurred_at, recorded_at from event')).toEqual([
      { occurred_at: new Date('2026-06-14T09:00:00Z'), recorded_at: now },
    ])
  })

  test('many at a time about one new person lose nothing of each other', async () => {
    const members = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(members.map((name) => publish('UPDATE', person({ [name]: 1 }))))
    expect(await stored()).toEqual(person(Object.fromEntries(members.map((name) => [name, 1]))))
  })
})

test('a deletion notifies those whose filter the record fulfilled, with identifiers alone', async () => {
  await publish('REGISTER', person({ sex: 'F' }))
  const female = await subscribe('UPDATE', { sex: { eq: 'F' } })
  await subscribe('UPDATE', { sex: { eq: 'M' } })
  await deleteRecords(acting(deps()), { namespace: 'civil', record_type: 'Person', identifiers: ['U-44', 'U-45'] })
  expect(await notifications()).toMatchObject([{ subscription: female, presence: 'left' }])
  // The conditions of grants are asked of the record as it was before.
  expect(await rows(`select document::json, identifiers::json from event where event_type = 'UPDATE'`)).toEqual([
    { document: person({ sex: 'F' }), identifiers: person() },
  ])
})

test('a filter that cannot be read any more suspends its subscription', async () => {
  const lost = await subscribe('UPDATE', { sex: { eq: 'F' } })
  await database.db.pool.query(`update subscription set criteria = replace(criteria, '"sex"', '"shoe_size"')`)
  await database.db.pool.query('update subscription_key set whole = false')
  await publish('UPDATE', person({ sex: 'F' }))
  expect(await notifications()).toEqual([])
  expect(await rows('select id, state, reason from subscription')).toEqual([
    { id: lost, state: 'suspended', reason: 'unreadable' },
  ])
  expect(await rows('select * from subscription_key')).toEqual([])
})

describe('a death', () => {
  const states = () => rows('select state, reason, ended_at from subscription order by id')
  const filed = async () => (await rows('select count(*)::int as count from subscription_key'))[0]?.count
  const live = { state: 'live', reason: null, ended_at: null }

  test('is notified to the subscriptions to that person, which end with it', async () => {
    const one = { uin: { eq: 'U-44' } }
    const about = await subscribe('Death', one, { person: true })
    const all = await subscribe('Death')
    await subscribe('Marriage', one, { person: true })
    await publish('REGISTER', person())
    await publish('Death', person({ death_date: '2026-06-14' }))
    expect(await notifications()).toMatchObject([{ subscription: about }, { subscription: all }])
    expect(await states()).toEqual([{ state: 'ended', reason: 'death', ended_at: now }, live, live])
    expect(await filed()).toBe(2)
  })

  test('that is taken back is notified to its receivers, whose subscriptions are open again', async () => {
    const about = await subscribe('Death', { uin: { eq: 'U-44' } }, { person: true })
    const died = await publish('Death', person({ death_date: '2026-06-14' }), { event_id: 'death' })
    const late = await subscribe('Death')
    const cancelled = await publish('CANCEL', person({ death_date: null }), { corrects: 'death' })
    const [first] = await rows('select id from notification order by id')
    expect(await notifications()).toMatchObject([
      { subscription: about, purpose: 'event' },
      { subscription: about, purpose: 'correction', presence: 'stayed', corrects: first?.id },
    ])
    expect(await events()).toEqual([
      { id: died.id, event_type: 'Death', matched: 1, reversed_by: cancelled.id },
      { id: cancelled.id, event_type: 'CANCEL', matched: 1, reversed_by: null },
    ])
    expect(await states()).toEqual([live, live])
    const again = await publish('Death', person({ death_date: '2026-06-15' }))
    expect(again.matched).toBe(2)
    expect(late).not.toBe(about)
  })

  test.each<[string, number, string]>([
    ['an old one', DEFAULT_LIMITS.correction_time + 1, 'ended'],
    ['one of the last days', DEFAULT_LIMITS.correction_time - 1, 'live'],
  ])('%s is taken back', async (_, days, state) => {
    await subscribe('Death', { uin: { eq: 'U-44' } }, { person: true })
    await publish('Death', person({ death_date: '2026-06-14' }), { event_id: 'death' })
    now = new Date(now.getTime() + days * 86_400_000)
    await publish('CANCEL', person({ death_date: null }), { corrects: 'death' })
    expect(await states()).toMatchObject([{ state }])
  })

  test('what was subscribed to anew meanwhile stays alone', async () => {
    const filter = { uin: { eq: 'U-44' } }
    await subscribe('Death', filter, { person: true })
    await publish('Death', person({ death_date: '2026-06-14' }), { event_id: 'death' })
    await subscribe('Death', filter, { person: true })
    await database.db.pool.query(`update subscription set fingerprint = 'same'`)
    await publish('CANCEL', person({ death_date: null }), { corrects: 'death' })
    expect(await states()).toMatchObject([{ state: 'ended' }, { state: 'live' }])
  })
})

test('a record that an import makes at the same moment is merged into', async () => {
  const client = await database.db.pool.connect()
  const prepared = prepareRecord(registry.kind, registry.kind.record_types[0], person({ sex: 'F' }))
  let publishing: Promise<unknown> = Promise.resolve()
  try {
    await inTransaction(client, async () => {
      await writeRecords(client, registry, registry.kind.record_types[0], [prepared])
      publishing = publish('UPDATE', person({ note: 'x' }))
      // It has found no record, and waits for the end of the import's transaction.
      await expect.poll(() => rows(`select from pg_locks where not granted`)).not.toEqual([])
    })
  } finally {
    client.release()
  }
  await publishing
  expect(await stored()).toEqual(person({ sex: 'F', note: 'x' }))
})
