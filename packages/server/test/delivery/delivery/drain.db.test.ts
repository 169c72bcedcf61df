import type { StoredEnvelope } from '@rollcall/core/model/delivery'
import type { Participant } from '@rollcall/core/model/participant'
import { findBreaker } from '@rollcall/delivery/store/deliveries/breakers'
import { rotateOwnKeys } from '@rollcall/keys/rotation'
import { setParticipantStatus } from '@rollcall/participants/store/participants'
import { openVault } from '@rollcall/settings/storage'
import { expect, test } from 'vitest'
import { drainParticipant } from '../../../../delivery/src/delivery/drain-participant.ts'
import { secondsUntilDelivery } from '../../../../delivery/src/store/deliveries/destinations.ts'
import { isSigned, type PublishedKey } from '../../../../delivery/test/stranger/signing.ts'
import { SETTINGS_AGE, testClock } from '../../../../observe/test/clock.ts'
import { testConfig } from '../../../../settings/test/config.ts'
import {
  answering,
  attemptsOf,
  dueNow,
  kept,
  LOOPBACK,
  newDelivery,
  type Receiver,
  senderWithPeers,
  takes,
  testSender,
} from '../../deliveries.ts'

const { sender, newPeer: setting } = await senderWithPeers({ ROLLCALL_RETRY_SCHEDULE: '1,1,1,1,1,1,1,1' })

const to = ({ url }: Receiver, { id }: Participant) => ({ participant: id, origin: url })

const deliveries = (participant: Participant, count: number) =>
  Promise.all(Array.from({ length: count }, () => newDelivery(sender, participant)))

const states = async (all: readonly { id: string }[]): Promise<string[]> =>
  Promise.all(all.map(async ({ id }) => (await kept(sender, id)).state))

const probeNow = (participant: Participant) =>
  sender.database.db.pool.query('update breaker set probe_at = now() where participant = $1', [participant.id])

test('everything that is due is delivered, within the places of the participant', async () => {
  const { peer, participant } = await setting(
    (response) => setTimeout(() => answering(200)(response, { path: '', headers: {}, body: '' }), 20),
    { concurrency: 3 },
  )
  const all = await deliveries(participant, 12)
  await drainParticipant(sender.context, participant.id)
  expect(new Set(await states(all))).toEqual(new Set(['delivered']))
  expect(peer.received).toHaveLength(12)
  expect(peer.most()).toBe(3)
})

test('two drains at once attempt each delivery once', async () => {
  const { peer, participant } = await setting(answering(200))
  const all = await deliveries(participant, 15)
  await Promise.all([1, 2].map(() => drainParticipant(sender.context, participant.id)))
  const sent = peer.received.map(({ body }) => JSON.parse(body).header.message_id)
  expect(sent.sort()).toEqual(all.map(({ message_id }) => message_id).sort())
})

test('the database fails while it looks for what is due: the places are free again', async () => {
  const { peer, participant } = await setting(answering(200), { concurrency: 2 })
  const all = await deliveries(participant, 3)
  const { context, database } = sender
  const rename = (from: string, to: string) => database.db.pool.query(`alter table ${from} rename to ${to}`)
  // Only one statement of a drain needs this table: the one that claims.
  await rename('delivery_attempt', 'away')
  for (let at = 0; at < 3; at += 1) {
    await expect(drainParticipant(context, participant.id)).rejects.toThrow('delivery_attempt')
  }
  await rename('away', 'delivery_attempt')
  await context.limiter.idle()
  await drainParticipant(context, participant.id)
  expect(new Set(await states(all))).toEqual(new Set(['delivered']))
  expect(peer.received).toHaveLength(3)
})

test('a rate is kept to', async () => {
  const clock = testClock()
  const timed = await testSender(sender.env, sender.database, clock)
  try {
    const { peer, participant } = await setting(answering(200), { rate: 10, concurrency: 20 })
    const all = await deliveries(participant, 14)
    const turn = async () => {
      await drainParticipant(timed.context, participant.id, undefined, 100)
      // A turn does not wait for attempts that take long.
      await timed.context.limiter.idle()
    }
    // Ten at once, and one more each tenth of a second.
    await turn()
    expect(peer.received).toHaveLength(10)
    clock.pass(99)
    await turn()
    expect(peer.received).toHaveLength(10)
    clock.pass(202)
    await turn()
    expect(peer.received).toHaveLength(13)
    clock.pass(1_000)
    await turn()
    expect(new Set(await states(all))).toEqual(new Set(['delivered']))
    expect(peer.received).toHaveLength(14)
  } finally {
    await timed.close()
  }
})

test('attempts of a delivery are the same message, and each has a signature of its own', async () => {
  const { peer, participant } = await setting(answering(503))
  const [delivery] = await deliveries(participant, 1)
  for (let at = 0; at < 3; at += 1) {
    await dueNow(sender, participant.id)
    await drainParticipant(sender.context, participant.id)
    // Signatures say seconds.
    sender.clock.pass(1_000)
  }
  const bodies = peer.received.map(({ body }) => JSON.parse(body))
  expect(bodies).toHaveLength(3)
  expect(new Set(bodies.map(({ header }) => JSON.stringify(header))).size).toBe(1)
  expect(new Set(bodies.map(({ message }) => JSON.stringify(message))).size).toBe(1)
  expect(bodies[0].header.message_id).toBe(delivery?.message_id)
  expect(new Set(bodies.map(({ signature }) => signature)).size).toBe(3)
  const traces = peer.received.map(({ headers }) => String(headers.traceparent).split('-')[1])
  expect(new Set(traces).size).toBe(1)
})

test('a retry after our keys were rotated is signed with the new key, which a strict receiver takes', async () => {
  const { context, database } = sender
  const published = async () => (await context.keys.jwks()).keys as readonly PublishedKey[]
  const strict: Receiver['answer'] = async (response, received) => {
    const [first] = await published()
    const isGood = first !== undefined && isSigned(received.body, 'civil.example', [first])
    answering(isGood ? 200 : 401)(response, received)
  }
  const { peer, participant } = await setting(answering(500))
  const [delivery] = await deliveries(participant, 1)
  await drainParticipant(context, participant.id)
  const [before] = await published()
  await rotateOwnKeys(database.db, await openVault(testConfig(sender.env), database.db))
  sender.clock.pass(SETTINGS_AGE)
  expect((await published())[0]?.kid).not.toBe(before?.kid)
  peer.answer = strict
  await dueNow(sender, participant.id)
  await drainParticipant(context, participant.id)
  expect(await attemptsOf(sender, delivery?.id ?? '')).toMatchObject([{ status: 500 }, { status: 200 }])
  expect(before === undefined || isSigned(peer.received[1]?.body ?? '', 'civil.example', [before])).toBe(false)
})

test('the last attempt of the schedule leaves it dead, with the reason', async () => {
  const { participant } = await setting(answering(500), { schedule: [1] })
  const [delivery] = await deliveries(participant, 1)
  for (let at = 0; at < 2; at += 1) {
    await dueNow(sender, participant.id)
    await drainParticipant(sender.context, participant.id)
  }
  expect(await kept(sender, delivery?.id ?? '')).toMatchObject({ state: 'dead', reason: 'http_5xx', attempts: 2 })
})

test('a breaker opens after five failures, lets one through, and closes with a success', async () => {
  const { peer, participant } = await setting(answering(500), { concurrency: 1 })
  const all = await deliveries(participant, 9)
  await drainParticipant(sender.context, participant.id)
  expect(peer.received).toHaveLength(5)
  expect(await findBreaker(sender.database.db, to(peer, participant))).toMatchObject({ failures: 5 })
  // Nothing is attempted while it is open, and the job comes again for the probe: after the longest pause of the schedule.
  await drainParticipant(sender.context, participant.id)
  expect(peer.received).toHaveLength(5)
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeLessThanOrEqual(1)

  await probeNow(participant)
  await drainParticipant(sender.context, participant.id)
  expect(peer.received).toHaveLength(6)
  expect(await findBreaker(sender.database.db, to(peer, participant))).toMatchObject({ failures: 6 })

  peer.answer = answering(200)
  await probeNow(participant)
  await drainParticipant(sender.context, participant.id)
  // Due deliveries follow in the same turn.
  expect(peer.received.length).toBeGreaterThan(7)
  expect(await findBreaker(sender.database.db, to(peer, participant))).toMatchObject({ opened_at: null })
  await dueNow(sender, participant.id)
  await drainParticipant(sender.context, participant.id)
  expect(new Set(await states(all))).toEqual(new Set(['delivered']))
})

test('while nobody is there, what is past its schedule is given up', async () => {
  const { participant } = await setting(answering(500), { concurrency: 1 })
  const all = await deliveries(participant, 9)
  await drainParticipant(sender.context, participant.id)
  await sender.database.db.pool.query(`update delivery set since = now() - interval '1 minute' where participant = $1`, [
    participant.id,
  ])
  await probeNow(participant)
  await drainParticipant(sender.context, participant.id)
  expect(new Set(await states(all))).toEqual(new Set(['dead']))
  const reasons = await Promise.all(all.map(async ({ id }) => (await kept(sender, id)).reason))
  expect(new Set(reasons)).toEqual(new Set(['expired']))
})

test('the deliveries of a disabled participant wait until it is enabled', async () => {
  const { peer, participant } = await setting(answering(200))
  const all = await deliveries(participant, 2)
  await setParticipantStatus(sender.database.db, participant.sender_id, 'disabled')
  expect(await drainParticipant(sender.context, participant.id)).toBe(5)
  expect(await states(all)).toEqual(['pending', 'pending'])
  await setParticipantStatus(sender.database.db, participant.sender_id, 'active')
  sender.clock.pass(SETTINGS_AGE)
  await drainParticipant(sender.context, participant.id)
  expect(await states(all)).toEqual(['delivered', 'delivered'])
  expect(peer.received).toHaveLength(2)
})

test('a body that cannot be read any more stops nothing else', async () => {
  const { participant } = await setting(answering(200))
  const [broken] = [await newDelivery(sender, participant, { body: new Uint8Array(64).fill(1) as StoredEnvelope })]
  const all = await deliveries(participant, 2)
  await drainParticipant(sender.context, participant.id)
  expect(await kept(sender, broken.id)).toMatchObject({ state: 'dead', reason: 'body_altered' })
  expect(await states(all)).toEqual(['delivered', 'delivered'])
})

test('one that hangs leaves the others as they are', async () => {
  const hanging = await setting(() => undefined, { timeout_ms: 120_000 })
  const { peer, participant } = await setting(answering(200))
  await deliveries(hanging.participant, 10)
  const all = await deliveries(participant, 30)
  const held = drainParticipant(sender.context, hanging.participant.id)
  // It has shown nothing yet: half of its places.
  await expect.poll(() => hanging.peer.received.length).toBe(4)
  await drainParticipant(sender.context, participant.id)
  // All of them arrive while every place of the other one hangs.
  expect(new Set(await states(all))).toEqual(new Set(['delivered']))
  expect(peer.received).toHaveLength(30)
  expect(hanging.peer.received).toHaveLength(4)
  await hanging.peer.close()
  await held
})

test('what becomes due while an attempt hangs is attempted in the other places', async () => {
  const { peer, participant } = await setting(() => undefined, { timeout_ms: 120_000, concurrency: 4 })
  await deliveries(participant, 1)
  const held = drainParticipant(sender.context, participant.id)
  await expect.poll(() => peer.received.length).toBe(1)
  peer.answer = answering(200)
  const later = await deliveries(participant, 3)
  const all = ['delivered', 'delivered', 'delivered']
  await expect.poll(() => states(later)).toEqual(all)
  expect(peer.received).toHaveLength(4)
  await peer.close()
  await held
})

test('a drain that is told to stop finishes what is under way, and leaves the rest due', async () => {
  const stop = new AbortController()
  const { peer, participant } = await setting(
    (response, received) => {
      stop.abort()
      setTimeout(() => answering(200)(response, received), 30)
    },
    // One that has shown nothing yet gets half of them.
    { concurrency: 4 },
  )
  const all = await deliveries(participant, 6)
  await drainParticipant(sender.context, participant.id, stop.signal)
  expect((await states(all)).filter((state) => state === 'delivered')).toHaveLength(2)
  expect(peer.received).toHaveLength(2)
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeLessThanOrEqual(0.5)
})

test('nothing is sent to a private network that a name leads to', async () => {
  const participant = await takes(
    sender,
    'inside.example',
    'http://localhost:9/',
    {},
    { outgoing: [{ ...LOOPBACK, host: 'localhost', loopback: false }] },
  )
  const [delivery] = await deliveries(participant, 1)
  await drainParticipant(sender.context, participant.id)
  expect(await kept(sender, delivery?.id ?? '')).toMatchObject({ state: 'dead', reason: 'address_network' })
})
