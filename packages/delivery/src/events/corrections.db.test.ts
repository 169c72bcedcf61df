import { publishEvent } from '@rollcall/admin/events/publish'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { withTransaction } from '@rollcall/database/transaction'
import type { JsonObject } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { type SubscriptionChanges, subscribeLive } from '../../test/subscriptions.ts'
import { forgetEvents } from '../store/events/forgetting.ts'
import { suspendSubscriptions } from '../store/events/subscription-states.ts'
import { recordChanges } from './record-changes.ts'
import { compiledFiltersOf } from './recording.ts'

let database: TestDatabase
let registry: Registry
let now: Date
beforeAll(async () => {
  database = await testDatabase()
  registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
})
afterAll(() => database.close())
beforeEach(async () => {
  now = new Date('2026-06-15T09:00:00Z')
  await rows('truncate event, subscription, mailbox, record_source_version, r1_person, r1_person_identifier cascade')
})

const limits = DEFAULT_LIMITS
const rows = async (statement: string, ...values: unknown[]) => (await database.db.pool.query(statement, values)).rows

const [ONE, DEAD] = [{ uin: { eq: 'U-44' } }, { death_date: '2026-06-14' }]
const subscribe = (filter?: JsonObject, more: SubscriptionChanges = {}) =>
  subscribeLive(database.db, registry, 'Death', filter, more)
const publish = (reg_event_type: string, members: JsonObject, more: object = {}) => {
  const record = { identifier: [{ identifier_type: 'UIN', identifier_value: 'U-44' }], ...members }
  const event = { namespace: 'civil', reg_event_type, record, ...more }
  return publishEvent(acting({ db: database.db, limits, now: () => now }), event)
}
const dies = (event_id = 'death') => publish('Death', DEAD, { event_id })
const takenBack = () => publish('CANCEL', { death_date: null }, { corrects: 'death' })
const states = () => rows('select state, reason from subscription order by id')
const filed = async () => (await rows('select subscription from subscription_key')).length
const [LIVE, OF_DEATH] = [
  { state: 'live', reason: null },
  { state: 'ended', reason: 'death' },
]

/** As a whole record is written, without the date: every death that was notified is taken back. */
async function cleared(): Promise<void> {
  const [row] = await rows('select id::text, document from r1_person')
  const { death_date: _, ...alive } = JSON.parse(row.document)
  const change = { record_type: 'Person', record: row.id, before: row.document, after: JSON.stringify(alive) }
  const recording = {
    registry,
    records: recordsOf(database.db, registry),
    now,
    limits,
    filters: compiledFiltersOf(database.db.pool),
  }
  await withTransaction(database.db.pool, (client) => recordChanges(client, recording, [change]))
}

test('of two that ask for the same and ended with deaths, the newest is open again', async () => {
  for (const event_id of ['one', 'two']) {
    await subscribe(ONE, { person: true })
    await rows(`update subscription set fingerprint = 'same'`)
    await dies(event_id)
  }
  await cleared()
  expect(await states()).toEqual([OF_DEATH, LIVE])
  expect(await filed()).toBe(1)
  expect(await rows(`select subscription from notification where purpose = 'correction'`)).toHaveLength(2)
})

test('what was forgotten in between is not what may be corrected', async () => {
  await subscribe(ONE, { person: true })
  await dies()
  await rows(`update event set recorded_at = now() - make_interval(days => $1)`, limits.correction_time - 1)
  await rows(`update subscription set ended_at = now() - make_interval(days => $1)`, limits.correction_time - 1)
  await rows(`update notification set state = 'dropped'`)
  await rows(`update notification set state = 'sent', delivery = gen_random_uuid()`)
  await forgetEvents(database.db, limits.correction_time * 86_400)
  now = new Date()
  await takenBack()
  expect(await states()).toEqual([LIVE])
  expect(await dies()).toMatchObject({ matched: 1 })
  expect(await rows('select from event')).toHaveLength(2)
})

test('in a closed mailbox it is open again when the mailbox is', async () => {
  await subscribe(ONE, { person: true })
  await dies()
  await rows(`update mailbox set state = 'closed'`)
  await takenBack()
  expect(await states()).toEqual([{ state: 'suspended', reason: 'undeliverable' }])
  expect(await filed()).toBe(0)
})

describe('of a subscription with a frequency', () => {
  const frequency = {
    cron: '0 0 12 * * * *',
    start_at: new Date('2026-06-01T00:00:00Z'),
    end_at: new Date('2026-07-01T00:00:00Z'),
  }
  const dueTimes = async () =>
    (await rows('select due_at from notification order by id')).map(({ due_at }) => due_at.toISOString())

  test('what waits is corrected at its time, not before it', async () => {
    await subscribe(undefined, frequency)
    await dies()
    await takenBack()
    expect(await dueTimes()).toEqual(['2026-06-15T12:00:00.000Z', '2026-06-15T12:00:00.000Z'])
  })

  test('what was sent is corrected at the next time', async () => {
    await subscribe(undefined, frequency)
    await dies()
    await rows(`update notification set state = 'sent', delivery = gen_random_uuid()`)
    now = new Date('2026-06-15T12:00:05Z')
    await takenBack()
    expect((await dueTimes())[1]).toBe('2026-06-16T12:00:00.000Z')
  })
})

describe('what waits in a backfill', () => {
  /** A backfill has queued the record as it is now; its id is that of the notification. */
  async function backfilled(subscription: number): Promise<number> {
    const [{ id }] = await rows(
      `with made as (
          insert into event (registry, event_type, record_type, record, record_version, occurred_at, document, matched, purpose)
          select $1, 'Death', 'Person', id, 1, now(), document, 1, 'backfill' from r1_person returning id
        )
        insert into notification (mailbox, event, subscription, presence, purpose)
        select mailbox, made.id, subscription.id, 'stayed', 'backfill' from made, subscription where subscription.id = $2
        returning id`,
      ...[registry.id, subscription],
    )
    return id
  }
  const order = () => rows(`select purpose, corrects from notification where state = 'waiting' order by is_backfill, due_at, id`)

  test('is corrected behind it, and what was sent before at once', async () => {
    const id = await subscribe()
    await dies()
    await rows(`update notification set state = 'sent', delivery = gen_random_uuid()`)
    const [{ id: sent }] = await rows('select id from notification')
    const waits = await backfilled(id)
    expect(await takenBack()).toMatchObject({ matched: 1 })
    expect(await order()).toEqual([
      { purpose: 'correction', corrects: sent },
      { purpose: 'backfill', corrects: null },
      { purpose: 'backfill', corrects: waits },
    ])
  })

  test('is corrected behind it, where nothing else was sent', async () => {
    await dies()
    const waits = await backfilled(await subscribe())
    await publish('CORRECTION', { death_date: '2026-06-13' }, { corrects: 'death' })
    expect(await order()).toEqual([
      { purpose: 'backfill', corrects: null },
      { purpose: 'backfill', corrects: waits },
    ])
    await rows(`update notification set state = 'sent', delivery = gen_random_uuid()`)
    await takenBack()
    expect(await order()).toEqual([{ purpose: 'correction', corrects: waits }])
  })
})

test('several subscriptions are locked in the order of their ids', async () => {
  const [low, high] = [await subscribe(), await subscribe()]
  // Its row stands behind the other one now.
  await rows(`update subscription set locale = 'eng' where id = $1`, low)
  const [holder, changer] = [await database.db.pool.connect(), await database.db.pool.connect()]
  await holder.query('begin')
  await holder.query('select from subscription where id = $1 for no key update', [high])
  await changer.query('begin')
  const suspended = suspendSubscriptions(changer, [high, low], 'unreadable')
  await expect
    .poll(() => rows(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
    .toHaveLength(1)
  const held = rows('select from subscription where id = $1 for no key update nowait', low)
  await expect(held).rejects.toMatchObject({ code: '55P03' })
  await holder.query('rollback')
  await suspended
  await changer.query('rollback')
  for (const client of [holder, changer]) client.release()
})
