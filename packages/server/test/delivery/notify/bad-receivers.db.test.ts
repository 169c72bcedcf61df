/** Receivers of notifications that hang, fail, or take their key away. */

import { addParticipantKeys, revokeParticipantKey } from '@rollcall/admin/participants/keys'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { answering, type Received } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { envelopeOf, type Subscribed, uinsOf } from '../../notifications.ts'

const { server, rows, newPeer, until, receiver } = await mailboxSender({ notify_items: 1, schedule: [0] })
const { db } = server.database

async function notifyAll(subscribed: Subscribed, uins: readonly string[]): Promise<void> {
  for (const uin of uins) await rows.notify(subscribed, await rows.event(uin))
}

test('one that hangs holds up no other, and gets everything in order when it answers again', async () => {
  const peer = receiver()
  const hanging = await newPeer({ notify_url: `${peer.url}/hangs`, timeout_ms: 100, schedule: [3_600] })
  const well = await newPeer()
  let hangs = true
  peer.answer = (response, one) => {
    if (!hangs || one.path !== '/hangs') answering(200)(response, one)
  }
  await notifyAll(await rows.subscribe(hanging), ['A', 'B'])
  await notifyAll(await rows.subscribe(well), ['A', 'B'])
  const to = (hung: boolean): readonly Received[] => peer.received.filter(({ path }) => (path === '/hangs') === hung)
  await until(async () => {
    expect(to(false).flatMap(uinsOf)).toEqual(['A', 'B'])
    const { rows: attempts } = await db.pool.query('select error from delivery_attempt where error is not null')
    expect(attempts).toEqual([{ error: 'timeout' }])
  })
  hangs = false
  await db.pool.query(`update delivery set next_attempt_at = now() where state = 'pending'`)
  await until(() => expect(to(true).flatMap(uinsOf)).toEqual(['A', 'A', 'B']))
  const [first, again] = to(true).map(envelopeOf)
  expect(again.header).toEqual(first.header)
})

test('one that fails every second time gets everything in order, each message twice', async () => {
  const peer = receiver()
  let requests = 0
  peer.answer = (response, one) => {
    requests += 1
    answering(requests % 2 === 1 ? 503 : 200)(response, one)
  }
  await notifyAll(await rows.subscribe(await newPeer()), ['A', 'B', 'C', 'D'])
  await until(() => expect(peer.received.flatMap(uinsOf)).toEqual([...'AABBCCDD']))
  const sent = peer.received.map(envelopeOf)
  const contents = new Map(sent.map(({ header, message }) => [header.message_id, JSON.stringify(message)]))
  expect(contents.size).toBe(4)
  for (const { header, message } of sent) {
    expect(JSON.stringify(message)).toBe(contents.get(header.message_id))
  }
  expect(sent.map(({ header }) => header.meta.sequence)).toEqual([1, 1, 2, 2, 3, 3, 4, 4])
})

test('one that takes its key away in between gets nothing in clear, and the rest when it has another', async () => {
  const { sender_id, ...participant } = await newPeer()
  const key = async (kid: string) => {
    const { x } = keyPair('X25519').privateJwk
    const jwk = { kty: 'OKP', crv: 'X25519', x, kid, use: 'enc' }
    await addParticipantKeys(acting({ db }), { sender_id, keys: JSON.stringify(jwk) })
    server.clock.pass(2 * SETTINGS_AGE)
  }
  await key('enc-1')
  const subscribed = await rows.subscribe(participant, { encrypted: true })
  await notifyAll(subscribed, ['A'])
  await until(() => expect(receiver().received).toHaveLength(1))
  await revokeParticipantKey(acting({ db }), { sender_id, kid: 'enc-1' })
  server.clock.pass(2 * SETTINGS_AGE)
  await notifyAll(subscribed, ['B', 'C'])
  await until(async () => {
    const { rows: attempts } = await db.pool.query('select distinct error from delivery_attempt where error is not null')
    expect(attempts).toEqual([{ error: 'no_encryption_key' }])
  })
  expect(receiver().received).toHaveLength(1)
  await key('enc-2')
  await db.pool.query(`update delivery set next_attempt_at = now() where state = 'pending'`)
  await until(() => expect(receiver().received).toHaveLength(3))
  const sent = receiver().received.map(envelopeOf)
  expect(sent.map(({ header, message }) => [header.is_msg_encrypted, message.header.kid])).toEqual([
    ...[
      [true, 'enc-1'],
      [true, 'enc-2'],
      [true, 'enc-2'],
    ],
  ])
  expect(
    receiver()
      .received.map(({ body }) => body)
      .join(),
  ).not.toContain('UIN')
})
