/**
 * A subscription that is renewed from another address: what waits for it goes there, in order, and nothing more to the old one.
 */
import type { ServerResponse } from 'node:http'
import { changeDeliveries } from '@rollcall/admin/deliveries/deliveries'
import type { Participant } from '@rollcall/core/model/participant'
import { withTransaction } from '@rollcall/database/transaction'
import { closeStaleMailboxes } from '@rollcall/delivery/store/events/closing'
import { ensureMailbox } from '@rollcall/delivery/store/events/mailboxes'
import { forgetExchanges } from '@rollcall/engine/store/exchanges/forget-exchanges'
import { beforeEach, expect, test, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { ENVELOPE_JOINT_WRITE } from '../../../../delivery/src/store/events/envelopes.ts'
import { moveNotificationsToMailbox } from '../../../../delivery/src/store/events/recall-envelope.ts'
import { renewSubscriptions } from '../../../../delivery/src/store/events/subscriptions.ts'
import { auditEntry } from '../../../../settings/test/audit-log.ts'
import { answering, type Received, type Receiver } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { envelopeOf, type Subscribed, uinsOf } from '../../notifications.ts'

const { server, rows, newPeer, until, receiver } = await mailboxSender({ schedule: [1] })
const { pool } = server.database.db
const { registry } = server
const DAY = 86_400
let peer: Receiver
let participant: Participant
beforeEach(async () => {
  peer = receiver()
  participant = await newPeer({ allowed: [`${peer.url}/old`, `${peer.url}/new`] })
})

const query = async (text: string) => (await pool.query(text)).rows
const subscribe = () => rows.subscribe(participant, { sender_uri: `${peer.url}/old/on-subscribe` })
const notify = async (subscribed: Subscribed, uin: string, due = 0) => rows.notify(subscribed, await rows.event(uin), { due })
/** Renews as an item of a request from the new address does. */
interface Renewing {
  readonly sender_uri?: string
  readonly encrypted?: boolean
  readonly was?: 'live' | 'suspended'
}
const renew = (
  { id, mailbox: from }: Subscribed,
  { sender_uri = `${peer.url}/new/on-subscribe`, encrypted = false, was = 'live' }: Renewing = {},
) =>
  withTransaction(pool, async (client) => {
    const mailbox = await ensureMailbox(client, { participant: participant.id, registry: registry.id, sender_uri })
    const types = { event_type: 'LiveBirth', record_type: 'Person', keys: [] }
    const state = { state: was, end_at: null, mailbox: from }
    const renewal = { id, ...types, end_at: was === 'live' ? null : new Date('2099-01-01'), from: state }
    expect(await renewSubscriptions(client, { registry: registry.id, mailbox, encrypted }, [renewal])).toBe(1)
    return mailbox
  })
/** The place where it came, its number there, and the UINs of its items. */
const told = ({ path, ...received }: Received): string => {
  const { sequence } = envelopeOf({ path, ...received }).header.meta
  return `${path} ${sequence}: ${uinsOf({ path, ...received }).join(' ')}`
}
const pending = () => query(`select attempts from delivery where state = 'pending' and claim is null`)
const states = () => query('select state, reason from delivery order by created_at')

test('what is held for it is sent to the new address in order, with what comes later', async () => {
  const subscribed = await subscribe()
  for (const uin of ['first', 'second']) await notify(subscribed, uin, 3_600)
  const mailbox = await renew(subscribed)
  await notify({ ...subscribed, mailbox }, 'third')
  await query('update notification set due_at = now()')
  await until(() => expect(peer.received.map(told)).toEqual(['/new/notify 1: first second third']))
})

test('a subscription that is renewed by an encrypted request is notified encrypted, also after a later request in clear', async () => {
  const subscribed = await subscribe()
  const encrypted = () => query('select encrypted from subscription')
  const old = `${peer.url}/old/on-subscribe`
  await renew(subscribed, { sender_uri: old, encrypted: false })
  expect(await encrypted()).toEqual([{ encrypted: false }])
  await renew(subscribed, { sender_uri: old, encrypted: true })
  expect(await encrypted()).toEqual([{ encrypted: true }])
  await renew(subscribed, { sender_uri: old, encrypted: false })
  expect(await encrypted()).toEqual([{ encrypted: true }])
})

test('an envelope that waits for its next attempt is recalled: each item goes where its subscription is', async () => {
  peer.answer = answering(503)
  const [moved, stays] = [await subscribe(), await subscribe()]
  await notify(moved, 'moves')
  await notify(stays, 'stays')
  await until(async () => expect(await pending()).toEqual([{ attempts: 1 }]))
  expect(peer.received.map(told)).toEqual(['/old/notify 1: moves stays'])
  const mailbox = await renew(moved)
  await notify({ ...moved, mailbox }, 'later')
  peer.answer = answering(200)
  await until(() =>
    expect(peer.received.map(told).toSorted()).toEqual([
      '/new/notify 1: moves later',
      '/old/notify 1: moves stays',
      '/old/notify 2: stays',
    ]),
  )
  expect((await states())[0]).toEqual({ state: 'dropped', reason: 'recalled' })
  const ids = peer.received.map((one) => envelopeOf(one).message.notify_event[0].reference_id)
  // Sent again, an item has its name: the receiver may have it.
  expect(new Set(ids).size).toBe(2)
})

test('an envelope during whose attempt it is renewed is sent again to the new address', async () => {
  let response: ServerResponse | undefined
  peer.answer = (held) => {
    response ??= held
  }
  const subscribed = await subscribe()
  await notify(subscribed, 'first')
  await until(() => expect(response).toBeDefined())
  await renew(subscribed)
  peer.answer = answering(200)
  if (response !== undefined) answering(200)(response, { path: '', headers: {}, body: '' })
  await until(() => expect(peer.received.map(told)).toEqual(['/old/notify 1: first', '/new/notify 1: first']))
  await until(async () =>
    expect(await states()).toEqual([
      { state: 'dropped', reason: 'recalled' },
      { state: 'delivered', reason: null },
    ]),
  )
})

test('an envelope that nobody was sent gives its number back', async () => {
  await query(
    `insert into breaker (participant, origin, failures, opened_at, probe_at)
      values (${participant.id}, '${peer.url}', 5, now(), now() + interval '1 hour')`,
  )
  const [moved, stays] = [await subscribe(), await subscribe()]
  await notify(moved, 'moves')
  await until(async () => expect(await pending()).toEqual([{ attempts: 0 }]))
  await renew(moved)
  await notify(stays, 'stays')
  await query('delete from breaker')
  await until(() => expect(peer.received.map(told).toSorted()).toEqual(['/new/notify 1: moves', '/old/notify 1: stays']))
})

test('an envelope that was composed before and is not committed yet is composed anew', async () => {
  const subscribed = await subscribe()
  const id = await notify(subscribed, 'first', 3_600)
  await renew(subscribed)
  const envelope = {
    mailbox: subscribed.mailbox,
    after: 0,
    claim: crypto.randomUUID(),
    deliveryClaim: null,
    delivery: {
      id: crypto.randomUUID(),
      participant: participant.id,
      registry: registry.id,
      correlation_id: null,
      callback: 'notify',
      page: 1,
      message_id: 'm',
      target: peer.url,
      encrypted: false,
      disclosedUnder: null,
      body: Buffer.alloc(0) as never,
      mailbox: subscribed.mailbox,
    },
    notifications: [{ id, subscription: subscribed.id, reference_id: 'r' }],
    counted: 0,
  }
  const { auditLog } = server.context
  expect(await auditLog.writeWith(ENVELOPE_JOINT_WRITE, envelope, auditEntry({ kind: 'notification' }), [])).toBe(false)
  expect(await rows.states()).toEqual(['waiting'])
})

test('a dead letter of the old address that is retried is sent to the new one', async () => {
  peer.answer = answering(410)
  const subscribed = await subscribe()
  await notify(subscribed, 'first')
  await until(async () => expect(await states()).toMatchObject([{ state: 'dead' }]))
  await renew(subscribed)
  peer.answer = answering(200)
  await changeDeliveries(acting(server.database), { change: 'retry', participant: participant.sender_id })
  await until(() => expect(peer.received.map(told)).toEqual(['/old/notify 1: first', '/new/notify 1: first']))
})

test('what was given up when its mailbox was closed is sent to the new address first', async () => {
  peer.answer = answering(503)
  const subscribed = await subscribe()
  await notify(subscribed, 'first')
  await until(async () => expect(await pending()).toHaveLength(1))
  await notify(subscribed, 'second')
  const attempts = peer.received.length
  await query(`update delivery set since = now() - interval '15 days', created_at = now() - interval '15 days', claim = null`)
  expect(await closeStaleMailboxes(server.database.db, 14 * DAY)).toHaveLength(1)
  expect(await states()).toEqual([{ state: 'dead', reason: 'expired' }])
  await forgetExchanges(server.database.db, 5 * DAY)
  await renew(subscribed, { was: 'suspended' })
  peer.answer = answering(200)
  await until(() => expect(peer.received.slice(attempts).map(told)).toEqual(['/new/notify 1: first second']))
  await forgetExchanges(server.database.db, 5 * DAY)
  expect(await states()).toEqual([{ state: 'delivered', reason: null }])
})

test('a move from an open mailbox looks for no dead letters, which other participants have too', async () => {
  const { id, mailbox } = await subscribe()
  const asked = vi.spyOn(pool, 'query')
  await moveNotificationsToMailbox(pool, { subscriptions: [id], from: [mailbox], to: mailbox })
  const statements = asked.mock.calls.map(([statement]) => String(statement)).join()
  asked.mockRestore()
  expect(statements).toContain("state = 'pending'")
  expect(statements).not.toContain("state = 'dead'")
})

test('a move from very many mailboxes announces none by its id: all are polled', async () => {
  const { id, mailbox } = await subscribe()
  const others = Array.from({ length: 2_000 }, (_, at) => 1_000_000 + at)
  const listener = await pool.connect()
  const announced: (string | undefined)[] = []
  listener.on('notification', ({ payload }) => announced.push(payload))
  await listener.query('listen rollcall_work')
  for (const from of [[mailbox], [mailbox, ...others]]) {
    await moveNotificationsToMailbox(pool, { subscriptions: [id], from, to: mailbox })
  }
  await vi.waitFor(() => expect(announced).toEqual([`m${mailbox}`, 'm']))
  listener.release(true)
})
