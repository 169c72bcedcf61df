/** The first notification of a mailbox, and an answer that waits, are due at once when an operator has repaired their obstacle. */

import { changeCallback } from '@rollcall/admin/callbacks/callbacks'
import { changeDeliveries } from '@rollcall/admin/deliveries/deliveries'
import { addParticipantKeys } from '@rollcall/admin/participants/keys'
import { setParticipantStatus } from '@rollcall/admin/participants/participants'
import { allowParticipantHost, changeParticipantPolicy } from '@rollcall/admin/participants/policy'
import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { answering } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { uinsOf } from '../../notifications.ts'

const { server, rows, newPeer, until, working, receiver } = await mailboxSender()
const { db } = server.database
const vault = () => Promise.reject(new Error('no credentials, no master key'))

interface Waits {
  /** Seconds until the next attempt at the first envelope. */
  readonly wait: number
  /** Seconds until the breaker of its destination lets it through. */
  readonly probe: number
}

async function waits(): Promise<Waits | undefined> {
  const { rows: found } = await db.pool.query<Waits>(
    `select extract(epoch from next_attempt_at - now())::float8 as wait,
        extract(epoch from probe_at - now())::float8 as probe
      from delivery join breaker using (participant, origin)
      where state = 'pending' and claim is null and attempts = 1`,
  )
  return found[0]
}

/** A participant whose first envelope has failed, and is attempted again in eight hours. */
async function waitingPeer(): Promise<string> {
  const participant = await newPeer({ schedule: [28_800], notify_items: 1 })
  const subscribed = await rows.subscribe(participant)
  receiver().answer = answering(503)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  await until(async () => expect((await waits())?.wait).toBeGreaterThan(20_000))
  await db.pool.query(`update breaker set failures = 5, opened_at = now(), probe_at = now() + interval '5 minutes'`)
  await db.pool.query(
    `insert into delivery (id, participant, registry, callback, message_id, encrypted, body, state, attempts, next_attempt_at)
      select gen_random_uuid(), participant, registry, 'on-search', 'm-1', false, '\\x01', state, 2, next_attempt_at
      from delivery where state = 'pending'`,
  )
  return participant.sender_id
}

const { x } = keyPair('X25519').privateJwk
const KEY = JSON.stringify({ kty: 'OKP', crv: 'X25519', x, kid: 'enc-9', use: 'enc' })

test.each<[string, (sender_id: string) => Promise<unknown>]>([
  ['its address', (sender_id) => changeCallback(acting({ db, vault }), { sender_id, notify_url: receiver().url })],
  ['its keys', (sender_id) => addParticipantKeys(acting({ db }), { sender_id, keys: KEY })],
  ['its policy', (sender_id) => changeParticipantPolicy(acting({ db, vault }), { sender_id, encryption_policy: 'allowed' })],
  ['its hosts', (sender_id) => allowParticipantHost(acting({ db }), { sender_id, host: 'a.example' })],
  ['its state', (sender_id) => setParticipantStatus({ db }, { sender_id, status: 'active' })],
  ['nothing, but retries its deliveries', (participant) => changeDeliveries(acting({ db }), { change: 'retry', participant })],
])('an operator changes %s', async (_, change) => {
  const sender_id = await waitingPeer()
  await change(sender_id)
  const { wait, probe } = (await waits()) ?? { wait: Infinity, probe: Infinity }
  expect([wait <= 1, probe <= 1]).toEqual([true, true])
  expect(await answerWaits()).toBe(false)
})

/** Whether the answer is still due in eight hours. */
async function answerWaits(): Promise<boolean> {
  const { rows: found } = await db.pool.query(
    `select from delivery where mailbox is null and attempts = 2 and next_attempt_at > now() + interval '1 hour'`,
  )
  return found.length > 0
}

test('to look at the settings changes nothing', async () => {
  const sender_id = await waitingPeer()
  await changeCallback(acting({ db, vault }), { sender_id })
  await changeParticipantPolicy(acting({ db, vault }), { sender_id })
  const { wait, probe } = (await waits()) ?? { wait: 0, probe: 0 }
  expect([wait > 20_000, probe > 200]).toEqual([true, true])
  expect(await answerWaits()).toBe(true)
})

test('a mailbox that rests for want of an address is looked at again', async () => {
  const participant = await newPeer({ default_url: null })
  const subscribed = await rows.subscribe(participant)
  await rows.notify(subscribed, await rows.event('A'))
  const rest = async () =>
    (await db.pool.query('select extract(epoch from claimed_until - now())::float8 as rest from mailbox')).rows[0].rest
  await until(async () => expect(await rest()).toBeGreaterThan(30))
  await changeCallback(acting({ db, vault }), { sender_id: participant.sender_id, default_url: receiver().url })
  expect(await rest()).toBeLessThanOrEqual(1)
})

test('a mailbox whose receiver loses its address while an envelope is sent rests at once', async () => {
  const { mailboxes } = server.context
  const participant = await newPeer({ notify_items: 1 })
  const subscribed = await rows.subscribe(participant)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  receiver().answer = async (response, one) => {
    await setCallbackSettings(db, participant.id, { default_url: null })
    server.clock.pass(2_000)
    answering(200)(response, one)
  }
  mailboxes.due([subscribed.mailbox])
  for (let poll = 0; poll < 2; poll += 1) {
    await mailboxes.poll(working())
    await mailboxes.idle()
  }
  expect(receiver().received.flatMap(uinsOf)).toEqual(['A'])
  expect(await rows.states()).toEqual(['sent', 'waiting'])
  const { rows: found } = await db.pool.query('select resting_since from mailbox')
  expect(found).toEqual([{ resting_since: expect.any(Date) }])
})

test('a destination that answers again gets what waits first in all of its mailboxes, and no other does', async () => {
  const peer = receiver()
  const elsewhere = 'http://127.0.0.1:1'
  const participant = await newPeer({ schedule: [28_800], allowed: [peer.url, elsewhere] })
  peer.answer = answering(503)
  const mailboxes: number[] = []
  for (const address of [`${peer.url}/a`, `${peer.url}/b`, elsewhere]) {
    const subscribed = await rows.subscribe(participant, { sender_uri: `${address}/on-subscribe` })
    mailboxes.push(subscribed.mailbox)
    await rows.notify(subscribed, await rows.event('A'))
  }
  const hours = async () => {
    const { rows: found } = await db.pool.query(
      `select mailbox, next_attempt_at > now() + interval '1 hour' as hours from delivery
        where state = 'pending' and claim is null order by mailbox`,
    )
    return found.map(({ mailbox, hours }) => [mailbox, hours])
  }
  await until(async () => expect(await hours()).toEqual(mailboxes.map((mailbox) => [mailbox, true])))
  peer.answer = answering(200)
  await db.pool.query('update breaker set failures = 5, opened_at = now(), probe_at = now()')
  await db.pool.query('update delivery set next_attempt_at = now() where mailbox = $1', [mailboxes[0]])
  const [, , other] = mailboxes
  await until(async () => {
    const left = await hours()
    expect(left.find(([mailbox]) => mailbox === mailboxes[0])).toBeUndefined()
    expect(left.filter(([, later]) => later)).toEqual([[other, true]])
  })
})
