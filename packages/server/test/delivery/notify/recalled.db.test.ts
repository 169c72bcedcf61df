/**
 * Composed notifications that are not sent any more: their subscription was taken back, or their participant may not have them.
 */

import type { Participant } from '@rollcall/core/model/participant'
import { withTransaction } from '@rollcall/database/transaction'
import { traceNotifications } from '@rollcall/delivery/store/events/traced-notifications'
import type { JsonObject } from '@rollcall/protocol'
import { beforeEach, expect, test } from 'vitest'
import { eraseNotifications } from '../../../../delivery/src/store/events/erasing.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { answering, type Receiver } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { envelopeOf, type Subscribed, uinsOf } from '../../notifications.ts'

const { server, rows, newPeer, until, receiver } = await mailboxSender({ schedule: [1] })
let peer: Receiver
beforeEach(() => {
  peer = receiver()
})

const query = async (text: string, values: readonly unknown[] = []) =>
  (await server.database.db.pool.query(text, [...values])).rows

const attemptsOf = () => query(`select attempts from delivery where state = 'pending' and claim is null`)
const due = () => query(`update delivery set next_attempt_at = now() where state = 'pending' and claim is null`)
const unsubscribe = ({ id }: Subscribed) =>
  query(`update subscription set state = 'ended', reason = 'unsubscribed', ended_at = now() where id = $1`, [id])
/** Withdraws the grant, and makes the server read it again. */
async function withdraw({ sender_id }: Participant): Promise<void> {
  await grant(server.database, sender_id, 'civil', { unfiltered: false })
  server.clock.pass(60_000)
}

/** Makes two subscriptions of a participant, each with an event of its own. */
async function two(participant: Participant): Promise<readonly [Subscribed, Subscribed]> {
  const gone = await rows.subscribe(participant)
  const stays = await rows.subscribe(participant)
  await rows.notify(gone, await rows.event('gone'))
  await rows.notify(stays, await rows.event('stays'))
  return [gone, stays]
}

test('an envelope that was attempted is composed anew without what was unsubscribed', async () => {
  peer.answer = answering(503)
  const [gone] = await two(await newPeer())
  await until(async () => expect(await attemptsOf()).toEqual([{ attempts: 1 }]))
  await unsubscribe(gone)
  peer.answer = answering(200)
  await due()
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['gone', 'stays'], ['stays']]))
  const [first, second] = peer.received.map(envelopeOf)
  expect(second.header.message_id).not.toBe(first.header.message_id)
  // The first one may have been received: its number is used.
  expect([first.header.meta.sequence, second.header.meta.sequence]).toEqual([1, 2])
  const [, item] = first.message.notify_event
  expect(second.message.notify_event.map((one: typeof item) => one.reference_id)).toEqual([item.reference_id])
  expect(await rows.states()).toEqual(['dropped', 'sent'])
  expect(await query('select state, reason from delivery order by sequence')).toEqual([
    { state: 'dropped', reason: 'recalled' },
    { state: expect.stringMatching(/pending|delivered/), reason: null },
  ])
  // The trace has both envelopes, the one that was taken back with its attempt.
  const [traced] = await traceNotifications(server.database.db, item.reference_id, 10)
  expect(traced?.recalled).toMatchObject([
    { message_id: first.header.message_id, state: 'dropped', reason: 'recalled', made: [{ status: 503 }] },
  ])
  expect(traced?.delivery?.message_id).toBe(second.header.message_id)
})

test('an envelope that nobody was sent gives its number to the next one', async () => {
  const participant = await newPeer()
  await query(
    `insert into breaker (participant, origin, failures, opened_at, probe_at)
      values ($1, $2, 5, now(), now() + interval '1 hour')`,
    [participant.id, peer.url],
  )
  const [gone] = await two(participant)
  await until(async () => expect(await attemptsOf()).toEqual([{ attempts: 0 }]))
  await unsubscribe(gone)
  await query('delete from breaker')
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['stays']]))
  expect(peer.received.map((one) => envelopeOf(one).header.meta.sequence)).toEqual([1])
})

test('nothing is composed that is not permitted any more, and its subscription is suspended', async () => {
  const participant = await newPeer()
  const filtering = (filter: JsonObject) =>
    rows.subscribe(participant, { criteria: { reg_event_type: 'LiveBirth', notify_record_type: 'Person', filter } })
  const filtered = await filtering({ sex: 'female' })
  const unfiltered = await rows.subscribe(participant)
  // A filter that names nobody counts as none.
  const namesNobody = await filtering({ UIN: { $ne: '0' } })
  await withdraw(participant)
  await rows.notify(unfiltered, await rows.event('A'))
  await rows.notify(filtered, await rows.event('B'))
  await rows.notify(namesNobody, await rows.event('C'))
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['B']]))
  expect(await rows.states()).toEqual(['dropped', 'sent', 'dropped'])
  expect(await query('select state, reason from subscription order by id')).toEqual([
    { state: 'live', reason: null },
    { state: 'suspended', reason: 'not_permitted' },
    { state: 'suspended', reason: 'not_permitted' },
  ])
})

test('what waits under a grant that this version cannot read is not dropped, and is sent when it can be read', async () => {
  const participant = await newPeer()
  await rows.notify(await rows.subscribe(participant), await rows.event('A'))
  const [granted] = await query('select terms from participant_grant where participant = $1', [participant.id])
  await grant(server.database, participant.sender_id, 'civil', { unfiltered: true, operations: ['subscribe', 'of-later'] })
  server.clock.pass(60_000)
  await until(async () =>
    expect(await query('select resting_since is not null as rests from mailbox')).toEqual([{ rests: true }]),
  )
  expect(await rows.states()).toEqual(['waiting'])
  expect(await query('select state, reason from subscription')).toEqual([{ state: 'live', reason: null }])
  await grant(server.database, participant.sender_id, 'civil', granted.terms)
  server.clock.pass(60_000)
  await query('update mailbox set claimed_until = now()')
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['A']]))
})

test('an envelope is not sent again when what it tells is not permitted any more', async () => {
  peer.answer = answering(503)
  const participant = await newPeer()
  await rows.notify(await rows.subscribe(participant), await rows.event('A'))
  await until(async () => expect(await attemptsOf()).toEqual([{ attempts: 1 }]))
  await withdraw(participant)
  await due()
  await until(async () => expect(await rows.states()).toEqual(['dropped']))
  expect(peer.received).toHaveLength(1)
})

test('an envelope that was composed under an earlier grant is composed anew under the newer one', async () => {
  peer.answer = answering(503)
  const participant = await newPeer()
  await rows.notify(await rows.subscribe(participant), await rows.event('A'))
  await until(async () => expect(await attemptsOf()).toEqual([{ attempts: 1 }]))
  await grant(server.database, participant.sender_id, 'civil', { unfiltered: true, see: ['identifier'] })
  server.clock.pass(60_000)
  peer.answer = answering(200)
  await due()
  await until(() => expect(peer.received).toHaveLength(2))
  const [first, second] = peer.received.map(envelopeOf)
  expect(first.message.notify_event[0].data.reg_records).toHaveProperty('sex')
  expect(second.message.notify_event[0].data.reg_records).not.toHaveProperty('sex')
  expect(second.header.message_id).not.toBe(first.header.message_id)
})

test('an envelope that is composed anew has no item whose record was erased meanwhile', async () => {
  peer.answer = answering(503)
  const participant = await newPeer()
  const subscribed = await rows.subscribe(participant)
  await rows.notify(subscribed, await rows.event('erased', { record: 2 }))
  await rows.notify(subscribed, await rows.event('stays'))
  await until(async () => expect(await attemptsOf()).toEqual([{ attempts: 1 }]))
  const erased = { registry: server.registry.id, record_type: 'Person', records: ['2'] }
  expect(await withTransaction(server.database.db.pool, (client) => eraseNotifications(client, erased))).toEqual({
    notifications: 0,
    underway: 1,
  })
  await grant(server.database, participant.sender_id, 'civil', { unfiltered: true, see: ['identifier'] })
  server.clock.pass(60_000)
  peer.answer = answering(200)
  await due()
  await until(() => expect(peer.received).toHaveLength(2))
  expect(peer.received.map((one) => envelopeOf(one).message.notify_event.length)).toEqual([2, 1])
  expect(peer.received.slice(1).map(uinsOf)).toEqual([['stays']])
  expect(await rows.states()).toEqual(['dropped', 'sent'])
})

test('a filter about what a later grant does not let ask is suspended when its notification is due', async () => {
  const participant = await newPeer()
  const criteria = {
    reg_event_type: 'LiveBirth',
    notify_record_type: 'Person',
    filter_type: 'expression',
    filter: { sex: { eq: 'F' } },
  }
  const subscription = await rows.subscribe(participant, { criteria })
  await grant(server.database, participant.sender_id, 'civil', { ask: ['birth_date'] })
  server.clock.pass(60_000)
  await rows.notify(subscription, await rows.event('A'))
  await until(async () => expect(await rows.states()).toEqual(['dropped']))
  expect(peer.received).toEqual([])
  expect(await query('select state, reason from subscription')).toEqual([{ state: 'suspended', reason: 'not_permitted' }])
})
