import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import {
  answering,
  type Receiver,
  receiver,
  type TestSender,
  takes,
  testSender,
} from '../../test/deliveries.ts'
import { envelopeOf, eventRows, uinsOf } from '../../test/notifications.ts'
import type { Participant } from '../model/participant.ts'
import type { CallbackSettings } from '../store/directory/participant-callbacks.ts'

let server: TestSender
let peer: Receiver
let rows: ReturnType<typeof eventRows>
let count = 0
let working: AbortController

beforeAll(async () => {
  server = await testSender()
  rows = eventRows(server.database, server.registry)
})
beforeEach(async () => {
  working = new AbortController()
  peer = await receiver()
})
afterEach(async () => {
  working.abort()
  await server.context.mailboxes.idle()
  await server.context.dispatcher.idle()
  await server.context.limiter.idle()
  await server.database.db.pool.query('truncate notification, subscription, event, mailbox, delivery cascade')
  await peer.close()
})
afterAll(() => server.close())

const newPeer = (settings: Partial<CallbackSettings> = {}): Promise<Participant> => {
  count += 1
  return takes(server, `peer-${count}.example`, peer.url, { timeout_ms: 400, ...settings })
}

/** Looks until what is asked for is so. */
async function until(check: () => Promise<void> | void): Promise<void> {
  const { mailboxes, dispatcher } = server.context
  await vi.waitFor(
    async () => {
      mailboxes.due([])
      await mailboxes.look(working.signal)
      await dispatcher.look(working.signal)
      await check()
    },
    { timeout: 10_000, interval: 20 },
  )
}

const received = (): readonly string[] => peer.received.flatMap(uinsOf)

test('a waiting notification is a signed message, and the next one follows it', async () => {
  const subscribed = await rows.subscribe(await newPeer({ notify_items: 1 }))
  for (const uin of ['A', 'B', 'C']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(received()).toEqual(['A', 'B', 'C']))
  expect(new Set(peer.received.map(({ path }) => path))).toEqual(new Set(['/registry/notify']))
  const envelopes = peer.received.map(envelopeOf)
  expect(envelopes.map(({ header }) => header.meta.sequence)).toEqual([1, 2, 3])
  expect(new Set(envelopes.map(({ header }) => header.message_id)).size).toBe(3)
  expect(new Set(envelopes.map(({ message }) => message.transaction_id)).size).toBe(3)
  for (const { signature } of envelopes) expect(signature).toBeTypeOf('string')
  expect(await rows.states()).toEqual(['sent', 'sent', 'sent'])
})

test('what a transient failure holds goes later, in order, under the same message_id', async () => {
  const participant = await newPeer({ notify_items: 1, schedule: [1] })
  const subscribed = await rows.subscribe(participant)
  peer.answer = answering(503)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(peer.received).toHaveLength(1))
  peer.answer = answering(200)
  await server.database.db.pool.query(`update delivery set next_attempt_at = now() where state = 'pending'`)
  await until(() => expect(received()).toEqual(['A', 'A', 'B']))
  const [first, again] = peer.received.map(envelopeOf)
  expect(again.header).toEqual(first.header)
})

test('what is refused for good goes to the dead letters, and the next one proceeds', async () => {
  const subscribed = await rows.subscribe(await newPeer({ notify_items: 1 }))
  peer.answer = (response, one) => answering(uinsOf(one)[0] === 'A' ? 410 : 200)(response, one)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(received()).toEqual(['A', 'B']))
  const { rows: states } = await server.database.db.pool.query('select state from delivery order by sequence')
  expect(states).toEqual([{ state: 'dead' }, { state: 'delivered' }])
})
