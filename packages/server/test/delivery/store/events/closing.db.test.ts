import { changeDeliveries as changeByHand } from '@rollcall/admin/deliveries/deliveries'
import type { Participant } from '@rollcall/core/model/participant'
import { openDatabase } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { changeDeliveries } from '@rollcall/delivery/store/deliveries/delivery-changes'
import { closeStaleMailboxes, openMailbox } from '@rollcall/delivery/store/events/closing'
import { deleteSentEventDocuments, forgetEvents } from '@rollcall/delivery/store/events/forgetting'
import { ensureMailbox } from '@rollcall/delivery/store/events/mailboxes'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { acting } from '../../../../../admin/test/acting.ts'
import { newDelivery, type TestSender, takes, testSender } from '../../../deliveries.ts'
import { eventRows, type Subscribed } from '../../../notifications.ts'

const DAY = 86_400

let server: TestSender
let rows: ReturnType<typeof eventRows>
let participant: Participant
let subscribed: Subscribed

beforeAll(async () => {
  server = await testSender()
  rows = eventRows(server.database, server.registry)
  participant = await takes(server, 'sp.example', 'https://sp.example')
})
beforeEach(async () => {
  await query('truncate notification, subscription, event, mailbox, delivery cascade')
  subscribed = await rows.subscribe(participant)
})
afterAll(() => server.close())

const query = async (text: string, values: unknown[] = []) => (await server.database.db.pool.query(text, values)).rows

/** A notification that was composed so many days ago and is in this state since. */
async function sent(uin: string, state: string, days = 0): Promise<string> {
  const notification = await rows.notify(subscribed, await rows.event(uin))
  const { id } = await newDelivery(server, participant)
  await query(
    `update delivery set callback = 'notify', mailbox = $2, sequence = 1, state = $3,
        next_attempt_at = case when $3 = 'pending' then now() end, since = now() - make_interval(days => $4)
      where id = $1`,
    [id, subscribed.mailbox, state, days],
  )
  await query(`update notification set state = 'sent', delivery = $2, reference_id = 'r' where id = $1`, [notification, id])
  return id
}

const mailboxStates = () => query('select state from mailbox')
const deliveryOf = async (id: string) => (await query('select state, reason from delivery where id = $1', [id]))[0]

test('a mailbox whose first notification is not taken for so long is closed, and its subscriptions are suspended', async () => {
  const { db } = server.database
  const id = await sent('A', 'pending', 13)
  await rows.notify(subscribed, await rows.event('B'))
  await query(`insert into subscription_key values ($1, 'LiveBirth', 'Person', '', $2, true)`, [
    ...[server.registry.id, subscribed.id],
  ])
  expect(await closeStaleMailboxes(db, 14 * DAY)).toEqual([])
  await query(`update delivery set since = now() - interval '15 days' where id = $1`, [id])
  expect(await closeStaleMailboxes(db, 14 * DAY)).toEqual([
    { mailbox: subscribed.mailbox, participant: 'sp.example', registry: 'civil', subscriptions: 1 },
  ])
  expect(await closeStaleMailboxes(db, 14 * DAY)).toEqual([])
  expect(await deliveryOf(id)).toEqual({ state: 'dead', reason: 'expired' })
  expect(await query('select state, reason from subscription')).toEqual([{ state: 'suspended', reason: 'undeliverable' }])
  expect(await query('select * from subscription_key')).toEqual([])
  expect(await rows.states()).toEqual(['sent', 'waiting'])

  await withTransaction(db.pool, (client) => openMailbox(client, subscribed.mailbox))
  expect(await mailboxStates()).toEqual([{ state: 'open' }])
  expect(await deliveryOf(id)).toEqual({ state: 'dropped', reason: 'replayed' })
  expect(await rows.states()).toEqual(['waiting', 'waiting'])
})

test('a mailbox without an address for so long is closed as well, if something has waited in it for so long', async () => {
  await query(`update mailbox set resting_since = now() - interval '15 days'`)
  expect(await closeStaleMailboxes(server.database.db, 14 * DAY)).toEqual([])
  await rows.notify(subscribed, await rows.event('A'), { due: -13 * DAY })
  expect(await closeStaleMailboxes(server.database.db, 14 * DAY)).toEqual([])
  expect(await query('select state from subscription')).toEqual([{ state: 'live' }])
  await query(`update notification set due_at = now() - interval '15 days'`)
  expect(await closeStaleMailboxes(server.database.db, 14 * DAY)).toHaveLength(1)
  expect(await mailboxStates()).toEqual([{ state: 'closed' }])
})

test.each(['replay', 'retry'] as const)('%s of a dead notification composes it anew', async (change) => {
  const id = await sent('A', 'dead')
  expect(await changeDeliveries(server.database.db, change, { ids: [id] })).toBe(1)
  expect(await deliveryOf(id)).toEqual({ state: 'dropped', reason: 'replayed' })
  expect(await rows.states()).toEqual(['waiting'])
})

test('one that was dropped while it waited is composed anew when it is replayed', async () => {
  const { db } = server.database
  const id = await sent('A', 'pending', 5)
  expect(await changeDeliveries(db, 'drop', { ids: [id] })).toBe(1)
  expect(await deliveryOf(id)).toEqual({ state: 'dropped', reason: 'operator' })
  expect(await changeDeliveries(db, 'replay', { ids: [id] })).toBe(1)
  expect(await deliveryOf(id)).toEqual({ state: 'dropped', reason: 'replayed' })
  expect(await rows.states()).toEqual(['waiting'])
})

test('one that was delivered stays so when it is replayed, and is composed anew beside it, once', async () => {
  const id = await sent('A', 'delivered')
  expect(await changeDeliveries(server.database.db, 'replay', { ids: [id] })).toBe(1)
  expect(await deliveryOf(id)).toEqual({ state: 'delivered', reason: null })
  expect(await rows.states()).toEqual(['waiting'])
  expect(await changeDeliveries(server.database.db, 'replay', { ids: [id] })).toBe(0)
})

test('one whose record was deleted after its delivery is not sent again without it', async () => {
  const { db } = server.database
  const id = await sent('A', 'delivered')
  await query(`update event set recorded_at = now() - interval '2 minutes'`)
  expect(await deleteSentEventDocuments(db)).toBe(1)
  expect(await changeDeliveries(db, 'replay', { ids: [id] })).toBe(0)
  expect(await rows.states()).toEqual(['sent'])
  await expect(changeByHand(acting({ db }), { change: 'replay', ids: [id] })).rejects.toThrow(
    'none of these is, or its record was deleted after the delivery',
  )
})

test('what is in a closed mailbox is not sent again, and the operator is told', async () => {
  const { db } = server.database
  const id = await sent('A', 'delivered')
  await query(`update mailbox set state = 'closed', closed_at = now()`)
  for (const change of ['replay', 'retry'] as const) {
    expect(await changeDeliveries(db, change, { ids: [id] })).toBe(0)
  }
  expect(await rows.states()).toEqual(['sent'])
  await expect(changeByHand(acting({ db }), { change: 'replay', ids: [id] })).rejects.toThrow(
    'replay needs an open mailbox; resume a subscription of the mailbox first',
  )
  const other = await newDelivery(server, participant)
  await query(`update delivery set state = 'dead', next_attempt_at = null where id = $1`, [other.id])
  expect(await changeByHand(acting({ db }), { change: 'replay', ids: [id, other.id] })).toEqual({
    changed: 1,
    in_closed_mailboxes: 1,
  })
})

test('one that waits is retried as it is: it keeps its message_id', async () => {
  const id = await sent('A', 'pending')
  expect(await changeDeliveries(server.database.db, 'retry', { ids: [id] })).toBe(1)
  expect(await deliveryOf(id)).toEqual({ state: 'pending', reason: null })
  expect(await rows.states()).toEqual(['sent'])
})

test('events are forgotten after their time, except what waits or is on its way', async () => {
  await sent('A', 'delivered')
  await sent('B', 'pending')
  await rows.notify(subscribed, await rows.event('C'))
  await rows.event('new')
  await query(`update event set recorded_at = now() - interval '15 days' where document not like '%new%'`)
  expect(await forgetEvents(server.database.db, 14 * DAY)).toBe(1)
  const left = await query('select document from event order by id')
  expect(left.map(({ document }) => JSON.parse(document).identifier[0].identifier_value)).toEqual(['B', 'C', 'new'])
})

test('what could not be sent from a mailbox that was closed is kept for as long from the closing', async () => {
  const { db } = server.database
  await sent('A', 'pending', 61)
  await rows.notify(subscribed, await rows.event('B'))
  await query(`update event set recorded_at = now() - interval '61 days'`)
  expect(await closeStaleMailboxes(db, 60 * DAY)).toHaveLength(1)
  expect(await forgetEvents(db, 60 * DAY)).toBe(0)
  await withTransaction(db.pool, (client) => openMailbox(client, subscribed.mailbox))
  expect(await rows.states()).toEqual(['waiting', 'waiting'])
  await query(`update mailbox set state = 'closed', closed_at = now() - interval '61 days'`)
  expect(await forgetEvents(db, 60 * DAY)).toBe(2)
})

test('old events behind many that are kept are forgotten, and each is looked at once', async () => {
  await query(
    `with made as (
       insert into event (registry, event_type, record_type, record, record_version, occurred_at, recorded_at, document)
       select registry, event_type, record_type, record + at, at, occurred_at, now() - interval '16 days', document
       from event, generate_series(1, 1500) as at where id = $1 returning id
     )
     insert into notification (mailbox, event, subscription, presence) select $2, id, $3, 'entered' from made`,
    [await rows.event('kept'), subscribed.mailbox, subscribed.id],
  )
  await rows.event('gone')
  await query(`update event set recorded_at = now() - interval '15 days' where recorded_at > now() - interval '1 day'`)
  const read = vi.spyOn(server.database.db.pool, 'query')
  expect(await forgetEvents(server.database.db, 14 * DAY)).toBe(2)
  const looked = read.mock.calls.filter(([text]) => String(text).includes('as event order by'))
  expect(looked).toHaveLength(2)
  read.mockRestore()
})

test('no statement deletes more than 5,000 notifications of a forgotten event', async () => {
  const owner = openDatabase(server.database.owner)
  const event = await rows.event('A')
  await query(
    `insert into notification (mailbox, event, subscription, presence, state)
      select $1, $2, $3, 'entered', 'dropped' from generate_series(1, 5001)`,
    [subscribed.mailbox, event, subscribed.id],
  )
  await query(`update event set recorded_at = now() - interval '15 days'`)
  await owner.pool.query(`
    create function check_deleted() returns trigger language plpgsql as $$ begin
      if (select count(*) from deleted) > 5000 then raise exception 'too many at once'; end if;
      return null;
    end $$;
    create trigger check_deleted after delete on notification referencing old table as deleted
      for each statement execute function check_deleted()`)
  try {
    expect(await forgetEvents(server.database.db, 14 * DAY)).toBe(1)
    expect(await query('select from notification')).toEqual([])
  } finally {
    await owner.pool.query('drop trigger check_deleted on notification; drop function check_deleted()')
    await owner.close()
  }
})

test('subscriptions that ended, and mailboxes without any, are forgotten after their time', async () => {
  await query(`update mailbox set created_at = now() - interval '15 days'`)
  expect(await forgetEvents(server.database.db, 14 * DAY)).toBe(0)
  await query(`update subscription set state = 'ended', reason = 'expired', ended_at = now() - interval '15 days'`)
  expect(await forgetEvents(server.database.db, 14 * DAY)).toBe(2)
  expect(await mailboxStates()).toEqual([])
})

test('a mailbox that a new subscription is put into is not closed meanwhile', async () => {
  const { pool } = server.database.db
  const owner = { participant: participant.id, registry: server.registry.id, sender_uri: null }
  await withTransaction(pool, async (client) => {
    expect(await ensureMailbox(client, owner)).toBe(subscribed.mailbox)
    const closing = query('select from mailbox where id = $1 for update nowait', [subscribed.mailbox])
    await expect(closing).rejects.toMatchObject({ code: '55P03' })
  })
})
