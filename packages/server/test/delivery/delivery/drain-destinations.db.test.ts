/** A broken address of a participant does not delay its other addresses. */

import { randomUUID } from 'node:crypto'
import type { Participant } from '@rollcall/core/model/participant'
import { findBreaker } from '@rollcall/delivery/store/deliveries/breakers'
import { changeDeliveries } from '@rollcall/delivery/store/deliveries/delivery-changes'
import { makeAddressChangeStatement } from '@rollcall/delivery/store/deliveries/move-deliveries'
import { ADDRESSLESS_EXCHANGES_SQL } from '@rollcall/engine/store/exchanges/exchange-names'
import { type CallbackSettings, setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { expect, test, vi } from 'vitest'
import { countRowsRead } from '../../../../database/test/rows-read.ts'
import { drainParticipant } from '../../../../delivery/src/delivery/drain-participant.ts'
import { secondsUntilDelivery } from '../../../../delivery/src/store/deliveries/destinations.ts'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import {
  ACK,
  answering,
  attemptsOf,
  dueNow,
  kept,
  newDelivery,
  type Receiver,
  receiver,
  senderWithPeers,
  takes,
} from '../../deliveries.ts'

const { sender, newReceiver: newPeer } = await senderWithPeers()
/** An address at which nobody listens. */
async function deadUrl(): Promise<string> {
  const peer = await receiver()
  await peer.close()
  return peer.url
}
const hanging = (): Promise<Receiver> => newPeer(() => undefined)

/** Answered at any port of this machine that it names. */
const newParticipant = (settings: Partial<CallbackSettings> = {}): Promise<Participant> =>
  takes(sender, `${randomUUID()}.example`, null, { allowed: ['http://127.0.0.1:*'], ...settings })

/** Deliveries for an address that their requests named, in this order. */
async function named(participant: Participant, url: string, count: number) {
  const made = []
  for (let at = 0; at < count; at += 1) {
    made.push(await newDelivery(sender, participant, { target: `${url}/cb`, correlation_id: randomUUID() }))
  }
  return made
}
const states = (all: readonly { id: string }[]) => Promise.all(all.map(async ({ id }) => (await kept(sender, id)).state))
const messagesOf = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body).header.message_id)
const breakerOf = ({ id }: Participant, origin: string) => findBreaker(sender.database.db, { participant: id, origin })
const inTurn = ({ id }: Participant, turn?: number) => drainParticipant(sender.context, id, undefined, turn)

test('forty for a dead address, then one for a live one: it is attempted in the same turn', async () => {
  const [dead, live] = [await deadUrl(), await newPeer()]
  const participant = await newParticipant()
  const waiting = await named(participant, dead, 40)
  const [one] = await named(participant, live.url, 1)
  await inTurn(participant)
  expect(await kept(sender, one?.id ?? '')).toMatchObject({ state: 'delivered', attempts: 1 })
  expect(await breakerOf(participant, dead)).toMatchObject({ opened_at: expect.any(Date) })
  expect(await breakerOf(participant, live.url)).toMatchObject({ failures: 0 })
  expect(new Set(await states(waiting))).toEqual(new Set(['pending']))
  // And so it is when the breaker is open already.
  const [other] = await named(participant, live.url, 1)
  await inTurn(participant)
  expect(await kept(sender, other?.id ?? '')).toMatchObject({ state: 'delivered' })
})

test('while addresses hang, one that is well is delivered to, and one that nobody knows yet', async () => {
  const [first, second, live, dead] = [await hanging(), await hanging(), await newPeer(), await deadUrl()]
  const participant = await newParticipant({ timeout_ms: 60_000 })
  await named(participant, first.url, 20)
  await named(participant, dead, 20)
  const held = inTurn(participant, 1_000)
  // Half of the places.
  await expect.poll(() => first.received.length).toBe(4)
  const one = await named(participant, live.url, 5)
  await expect.poll(() => states(one)).toEqual(Array(5).fill('delivered'))
  await named(participant, second.url, 20)
  await expect.poll(() => second.received.length).toBe(2)
  const more = await named(participant, live.url, 5)
  await expect.poll(() => states(more)).toEqual(Array(5).fill('delivered'))
  expect([first.received.length, second.received.length]).toEqual([4, 2])
  await held
})

test('a turn does not wait for attempts that hang: the next one attempts what is due elsewhere', async () => {
  const [away, live] = [await newPeer(), await newPeer()]
  const release: (() => void)[] = []
  away.answer = (response) => release.push(() => response.end(ACK))
  const participant = await newParticipant({ timeout_ms: 60_000 })
  const stuck = await named(participant, away.url, 1)
  await inTurn(participant, 100)
  expect(away.received).toHaveLength(1)
  // The job comes again when the claim ends, should nothing be heard of it.
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeGreaterThan(20)
  const all = await named(participant, live.url, 3)
  await inTurn(participant, 100)
  expect(await states(all)).toEqual(Array(3).fill('delivered'))
  for (const answer of release) answer()
  await expect.poll(() => states(stuck)).toEqual(['delivered'])
})

test('of one that failed after its turn was over, the job comes again when it is due', async () => {
  const away = await newPeer()
  const release: (() => void)[] = []
  away.answer = (response, received) => release.push(() => answering(503)(response, received))
  const participant = await newParticipant({ timeout_ms: 60_000, schedule: [7, 7] })
  const [stuck] = await named(participant, away.url, 1)
  await inTurn(participant, 100)
  for (const answer of release) answer()
  await expect.poll(async () => (await kept(sender, stuck?.id ?? '')).claimed).toBe(false)
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeLessThan(8)
})

test('each destination has its deliveries in the order in which they are due', async () => {
  const [one, two] = [await newPeer(), await newPeer()]
  const participant = await newParticipant({ concurrency: 1 })
  const made: Record<'one' | 'two', string[]> = { one: [], two: [] }
  for (let at = 0; at < 6; at += 1) {
    for (const [name, { url }] of [
      ['one', one],
      ['two', two],
    ] as const) {
      for (const { message_id } of await named(participant, url, name === 'one' ? 2 : 1)) made[name].push(message_id)
    }
  }
  await inTurn(participant)
  expect(messagesOf(one)).toEqual(made.one)
  expect(messagesOf(two)).toEqual(made.two)
})

test('all destinations together have no more places than their participant, and each has its turn', async () => {
  let inside = 0
  let most = 0
  const order: string[] = []
  const counting = async () => {
    const peer = await newPeer((response, received) => {
      order.push(peer.url)
      inside += 1
      most = Math.max(most, inside)
      setTimeout(() => {
        inside -= 1
        answering(200)(response, received)
      }, 10)
    })
    return peer
  }
  const all = await Promise.all([1, 2, 3, 4, 5].map(counting))
  const participant = await newParticipant({ concurrency: 3 })
  for (const { url } of all) await named(participant, url, 8)
  await inTurn(participant)
  expect(order).toHaveLength(40)
  expect(most).toBeLessThanOrEqual(3)
  // Nobody has a fourth attempt before everybody had a first one, but for the three that are under way at a time.
  const fourth = all.map(({ url }) => order.map((at, index) => (at === url ? index : -1)).filter((at) => at >= 0)[3] ?? 0)
  const first = all.map(({ url }) => order.indexOf(url))
  expect(Math.max(...first)).toBeLessThan(Math.min(...fourth) + 3)
})

test('a delivery that is retried by hand is the next one of its destination, and its probe', async () => {
  const peer = await newPeer(answering(500))
  const participant = await newParticipant({ concurrency: 1 })
  const all = await named(participant, peer.url, 12)
  await inTurn(participant)
  const before = peer.received.length
  expect(await breakerOf(participant, peer.url)).toMatchObject({ opened_at: expect.any(Date) })
  const chosen = all.at(-1)
  const ids = [chosen?.id ?? '']
  expect(await changeDeliveries(sender.database.db, 'retry', { ids })).toBe(1)
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeLessThanOrEqual(0)
  await inTurn(participant)
  expect(messagesOf(peer).slice(before)).toEqual([chosen?.message_id])
  expect(await attemptsOf(sender, ids[0] ?? '')).toMatchObject([{ number: 1, status: 500 }])
  // It waits like the others afterwards.
  expect((await kept(sender, ids[0] ?? '')).wait).toBeGreaterThan(0)

  peer.answer = answering(200)
  await changeDeliveries(sender.database.db, 'retry', { ids })
  await inTurn(participant)
  expect(messagesOf(peer).slice(before + 1)[0]).toBe(chosen?.message_id)
  expect(await breakerOf(participant, peer.url)).toMatchObject({ failures: 0, opened_at: null })
})

test('what waits for a default address that is away goes to the new one as soon as it is set', async () => {
  const [dead, live, other] = [await deadUrl(), await newPeer(), await newPeer(answering(500))]
  const participant = await newParticipant({ default_url: dead })
  const all = []
  for (let at = 0; at < 10; at += 1) all.push(await newDelivery(sender, participant))
  const [elsewhere] = await named(participant, other.url, 1)
  await inTurn(participant)
  expect(await breakerOf(participant, dead)).toMatchObject({ opened_at: expect.any(Date) })
  await setCallbackSettings(sender.database.db, participant.id, { default_url: live.url }, (default_url) =>
    makeAddressChangeStatement(participant.id, { default_url, addressless: ADDRESSLESS_EXCHANGES_SQL }),
  )
  sender.clock.pass(SETTINGS_AGE)
  await dueNow(sender, participant.id)
  await inTurn(participant)
  expect(await states(all)).toEqual(Array(10).fill('delivered'))
  expect(live.received[0]?.path).toBe('/registry/on-search')
  expect((await kept(sender, elsewhere?.id ?? '')).target).toBe(`${other.url}/cb`)
})

test('deliveries that have lost their address come to their end, and hold up nothing', async () => {
  const live = await newPeer()
  const participant = await newParticipant({ concurrency: 1, allowed: [live.url] })
  const without = []
  for (let at = 0; at < 5; at += 1) without.push(await newDelivery(sender, participant))
  const foreign = await named(participant, 'http://127.0.0.2:1', 5)
  const all = await named(participant, live.url, 2)
  await inTurn(participant)
  expect(await states([...without, ...foreign])).toEqual(Array(10).fill('dead'))
  expect(await kept(sender, without[0]?.id ?? '')).toMatchObject({ reason: 'no_address' })
  expect(await kept(sender, foreign[0]?.id ?? '')).toMatchObject({ reason: 'address_not_registered' })
  expect(await states(all)).toEqual(['delivered', 'delivered'])
})

/** Makes `count` destinations, each with a delivery that waits for a probe in an hour. */
async function manyAway(participant: Participant, count: number): Promise<void> {
  const { id } = await newDelivery(sender, participant, { target: 'http://127.0.0.1:1/cb', correlation_id: randomUUID() })
  const { pool } = sender.database.db
  await pool.query(
    `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, next_attempt_at)
      select gen_random_uuid(), participant, registry, callback, message_id, 'http://127.0.0.1:' || port || '/cb', encrypted,
        body, state, next_attempt_at from delivery, generate_series(2, $2) as port where id = $1`,
    [id, count],
  )
  await pool.query(
    `insert into breaker (participant, origin, failures, opened_at, probe_at)
      select participant, origin, 5, now(), now() + interval '1 hour' from delivery where participant = $1`,
    [participant.id],
  )
}

test('among thousands of destinations that are away, one that is well is found, whichever it is', async () => {
  const [live, last] = [await newPeer(), 'http://127.0.0.9:1']
  const participant = await newParticipant({ allowed: [live.url, last] })
  await manyAway(participant, 2_500)
  const all = [...(await named(participant, live.url, 2)), ...(await named(participant, last, 1))]
  await inTurn(participant)
  expect((await states(all)).slice(0, 2)).toEqual(['delivered', 'delivered'])
  // The guard does not let it through.
  expect(await kept(sender, all[2]?.id ?? '')).toMatchObject({ reason: 'address_scheme' })
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeLessThanOrEqual(5)
})

test('a look, and a claim, read few of thousands of deliveries that are due', async () => {
  const [away, live] = [await deadUrl(), await newPeer()]
  const participant = await newParticipant()
  await manyAway(participant, 1)
  const { pool } = sender.database.db
  await pool.query(
    `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, next_attempt_at)
      select gen_random_uuid(), participant, registry, callback, message_id, $2, encrypted, body, state, next_attempt_at
      from delivery, generate_series(1, 20000) where participant = $1`,
    [participant.id, `${away}/cb`],
  )
  await pool.query('analyze delivery')
  const all = await named(participant, live.url, 1)
  const query = vi.spyOn(pool, 'query')
  await inTurn(participant, 200)
  const statements = query.mock.calls.map(([given]) => given as unknown as { name?: string; text: string; values: unknown[] })
  query.mockRestore()
  expect(await states(all)).toEqual(['delivered'])
  for (const name of ['find destinations', 'claim deliveries']) {
    const found = statements.find((statement) => statement.name === name)
    expect(await countRowsRead(pool, found?.text ?? '', found?.values), name).toBeLessThan(2_000)
  }
})
