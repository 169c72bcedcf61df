import { AdminRefusal, type RefusalReason } from '@rollcall/admin/admin-function'
import { listEvents } from '@rollcall/admin/events/list'
import { publishEvent } from '@rollcall/admin/events/publish'
import { backfillSubscription, resumeSubscription, testSubscription } from '@rollcall/admin/events/subscription-mailbox'
import type { Participant } from '@rollcall/core/model/participant'
import { closeStaleMailboxes } from '@rollcall/delivery/store/events/closing'
import {
  findSubscriptionToNotify,
  insertTestNotification,
  queueBackfill,
} from '@rollcall/delivery/store/events/tests-and-backfills'
import { generate } from '@rollcall/synthetic'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { type TestSender, takes, testSender } from '../../deliveries.ts'
import { eventRows, type Subscribed } from '../../notifications.ts'
import { writeDocuments } from '../../server.ts'

let server: TestSender
let rows: ReturnType<typeof eventRows>
let participant: Participant

const samples = (kind: string) => generate(kind, { count: 20, seed: 1 })
const CRITERIA = {
  reg_event_type: 'LiveBirth',
  notify_record_type: 'Person',
  filter_type: 'predicate',
  filter: [{ expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'female' } }],
}

beforeAll(async () => {
  server = await testSender()
  rows = eventRows(server.database, server.registry)
  participant = await takes(server, 'sp.example', 'https://sp.example')
  const person = (nth: number) => ({
    '@type': 'CRVS_Person',
    identifier: [{ identifier_type: 'UIN', identifier_value: `U-${nth}` }],
    sex: nth % 2 === 0 ? 'female' : 'male',
  })
  await writeDocuments(server.database, server.registry, [1, 2, 3, 4].map(person))
})
beforeEach(() => query('truncate notification, subscription, event, mailbox cascade'))
afterAll(() => server.close())

const query = async (text: string, values: unknown[] = []) => (await server.database.db.pool.query(text, values)).rows
const subscribe = (): Promise<Subscribed> => rows.subscribe(participant, { criteria: CRITERIA })
const deps = () => ({ db: server.database.db, samples })
const waiting = () =>
  query(`select notification.purpose, presence, record_version, document from notification join event on event.id = event
    where notification.state = 'waiting' order by notification.id`)

test('a test is one notification with a synthetic record', async () => {
  const { code } = await subscribe()
  expect(await testSubscription(acting(deps()), { code })).toEqual({ code })
  expect(await waiting()).toMatchObject([
    { purpose: 'test', presence: 'entered', record_version: 0, document: expect.stringContaining('@type') },
  ])
})

test('a backfill queues every record that matches now', async () => {
  const { code } = await subscribe()
  expect(await backfillSubscription(acting(deps()), { code })).toEqual({ code, queued: 2 })
  const queued = await waiting()
  expect(queued.map(({ purpose, presence }) => `${purpose} ${presence}`)).toEqual(['backfill stayed', 'backfill stayed'])
  expect(queued.map(({ document }) => JSON.parse(document).identifier[0].identifier_value)).toEqual(['U-2', 'U-4'])
})

test('a record without an event is backfilled as of yesterday, and so below each later change', async () => {
  const { code } = await subscribe()
  const versions = async () => (await waiting()).map(({ record_version }) => record_version)
  const [{ yesterday }] = await query(
    `select (extract(epoch from date_trunc('day', now(), 'UTC') - interval '24 hours') * 1000000)::bigint as yesterday`,
  )
  await backfillSubscription(acting(deps()), { code })
  await backfillSubscription(acting(deps()), { code })
  expect(await versions()).toEqual([yesterday, yesterday, yesterday, yesterday])
  const record = { identifier: [{ identifier_type: 'UIN', identifier_value: 'U-2' }] }
  const { limits } = server.context
  await publishEvent(acting({ ...deps(), limits }), { namespace: server.registry.namespace, reg_event_type: 'UPDATE', record })
  const [{ changed }] = await query(`select record_version as changed from event where purpose = 'event'`)
  expect(changed).toBeGreaterThan(yesterday)
  await query('truncate notification')
  await backfillSubscription(acting(deps()), { code })
  expect(await versions()).toEqual([changed, yesterday])
})

test('the version of a record that may have been deleted and written again since yesterday is 0', async () => {
  const { code } = await subscribe()
  const deleted = [server.registry.id, 999_999]
  await query(`update r1_person set updated_at = now() - interval '3 days' where primary_identifier = 'U-4'`)
  await query(`insert into record_tombstone values ($1, 'Person', $2, 'U-9')`, deleted)
  await backfillSubscription(acting(deps()), { code })
  await query('delete from record_tombstone where registry = $1 and record = $2', deleted)
  expect((await waiting()).map(({ record_version }) => record_version > 0)).toEqual([false, true])
})

test('a backfill names the day on which a record was written, and not which records were written together', async () => {
  const { code } = await subscribe()
  await query(`update r1_person set updated_at = '2026-03-01T02:00:00.123Z'::timestamptz + id * interval '1 second'`)
  await backfillSubscription(acting(deps()), { code })
  const days = await query("select distinct occurred_at from event where purpose = 'backfill'")
  expect(days).toEqual([{ occurred_at: new Date('2026-03-01T00:00:00Z') }])
})

test('a backfill that was interrupted goes on where it was, and then begins anew', async () => {
  const { code, id } = await subscribe()
  await query('update subscription set backfilled = 2 where id = $1', [id])
  expect(await backfillSubscription(acting(deps()), { code })).toEqual({ code, queued: 1 })
  expect(await query('select backfilled from subscription')).toEqual([{ backfilled: null }])
  expect(await backfillSubscription(acting(deps()), { code })).toEqual({ code, queued: 2 })
})

test('a backfill that was interrupted is not continued with another time', async () => {
  const { code, id } = await subscribe()
  const since = '2026-01-01T00:00:00Z'
  const interrupted = (time: string | null) =>
    query('update subscription set backfilled = 2, backfilled_since = $2 where id = $1', [id, time])
  const refused = (was: string) =>
    refusal(`since: an earlier backfill of the subscription was interrupted and is continued first; it was begun ${was}`)
  await interrupted(null)
  await expect(backfillSubscription(acting(deps()), { code, since })).rejects.toThrow(refused('without it'))
  await interrupted(since)
  const with_it = 'with 2026-01-01T00:00:00.000Z'
  await expect(backfillSubscription(acting(deps()), { code })).rejects.toThrow(refused(with_it))
  await expect(backfillSubscription(acting(deps()), { code, since: '2026-01-02T00:00:00Z' })).rejects.toThrow(refused(with_it))
  expect(await waiting()).toEqual([])
  expect(await backfillSubscription(acting(deps()), { code, since })).toEqual({ code, queued: 1 })
  expect(await query('select backfilled, backfilled_since from subscription')).toEqual([
    { backfilled: null, backfilled_since: null },
  ])
})

test('a backfill since a time has only what was written after it', async () => {
  const { code } = await subscribe()
  const since = new Date(Date.now() + 60_000).toISOString()
  expect(await backfillSubscription(acting(deps()), { code, since })).toEqual({ code, queued: 0 })
})

test('a test and a page of a backfill go to the mailbox to which the subscription has moved meanwhile', async () => {
  const { db } = server.database
  const { id, code } = await subscribe()
  const found = await findSubscriptionToNotify(db.pool, code)
  if (found === undefined) throw new Error('nobody has subscribed')
  const { mailbox } = await rows.subscribe(participant, { sender_uri: 'https://sp.example/new' })
  await query('update subscription set mailbox = $2 where id = $1', [id, mailbox])
  await insertTestNotification(db, found, '{}')
  const [recordType] = server.registry.kind.record_types
  const page = { recordType, predicate: null, since: null, after: null, limit: 9 }
  expect(await queueBackfill(db, server.registry, found, page)).toMatchObject({ records: 4 })
  expect(await query('select mailbox, count(*)::integer from notification group by mailbox')).toEqual([{ mailbox, count: 5 }])
})

test('a suspended subscription is live and filed again, and its mailbox is open', async () => {
  const subscribed = await subscribe()
  const { code } = subscribed
  await rows.notify(subscribed, await rows.event('U-2'), { due: -1_300_000 })
  await query(`update mailbox set resting_since = now() - interval '15 days'`)
  await closeStaleMailboxes(server.database.db, 1_209_600)
  expect(await query('select state from subscription')).toEqual([{ state: 'suspended' }])
  expect(await resumeSubscription(acting(deps()), { code })).toEqual({ code })
  expect(await query('select state, reason from subscription')).toEqual([{ state: 'live', reason: null }])
  expect(await query('select state from mailbox')).toEqual([{ state: 'open' }])
  expect(await query('select whole from subscription_key')).toEqual([{ whole: true }])
})

test('a backfill and a resumed subscription have only the identifier types of the grant by which it was subscribed', async () => {
  const { reg_event_type, notify_record_type } = CRITERIA
  const asked = { reg_event_type, notify_record_type, filter: { identifier: 'U-2' } }
  const { code } = await rows.subscribe(participant, { criteria: { ...asked, granted_identifier_types: ['BRN'] } })
  expect(await backfillSubscription(acting(deps()), { code })).toEqual({ code, queued: 0 })
  await query(`update subscription set state = 'suspended'`)
  await resumeSubscription(acting(deps()), { code })
  expect(await query('select count(*)::integer as keys from subscription_key')).toEqual([{ keys: 1 }])
  const { code: other } = await rows.subscribe(participant, { criteria: asked })
  expect(await backfillSubscription(acting(deps()), { code: other })).toEqual({ code: other, queued: 1 })
})

const refusal = (text: string, reason: RefusalReason = 'invalid') => new AdminRefusal(text, { reason })

test('what cannot be done is refused, with the reason', async () => {
  const { code } = await subscribe()
  await expect(testSubscription(acting(deps()), { code: 'SUB-none' })).rejects.toThrow(
    refusal('code: there is no such subscription', 'not_found'),
  )
  await expect(resumeSubscription(acting(deps()), { code })).rejects.toThrow(
    refusal('code: the subscription is live, not suspended'),
  )
  await expect(testSubscription(acting({ ...deps(), samples: () => [] }), { code })).rejects.toThrow(
    refusal('code: there is no synthetic Person of the kind civil'),
  )
  await query(`update mailbox set state = 'closed'`)
  await expect(testSubscription(acting(deps()), { code })).rejects.toThrow(
    refusal('code: the mailbox of the subscription is closed; resume the subscription first'),
  )
  await query(`update subscription set state = 'suspended'`)
  await expect(backfillSubscription(acting(deps()), { code })).rejects.toThrow(
    refusal('code: the subscription is suspended; resume it first'),
  )
  await query(`update subscription set state = 'ended', reason = 'cancelled', ended_at = now()`)
  for (const work of [testSubscription, backfillSubscription, resumeSubscription]) {
    await expect(work(acting(deps()), { code })).rejects.toThrow(refusal('code: the subscription has ended', 'conflict'))
  }
})

test('a test and a backfill are no events that happened', async () => {
  const { code } = await subscribe()
  await testSubscription(acting(deps()), { code })
  await backfillSubscription(acting(deps()), { code })
  expect(await query('select purpose from event order by id')).toEqual(
    ['test', 'backfill', 'backfill'].map((purpose) => ({ purpose })),
  )
  const { namespace } = server.registry
  expect(await listEvents(acting(deps()), { namespace })).toEqual([])
})

test('a backfill does not wait for those who insert notifications of the subscription', async () => {
  const { id, code } = await subscribe()
  const client = await server.database.db.pool.connect()
  await client.query('begin')
  await client.query('select from subscription where id = $1 for key share', [id])
  expect(await backfillSubscription(acting(deps()), { code })).toMatchObject({ queued: 2 })
  await client.query('rollback')
  client.release()
})
