import { randomUUID } from 'node:crypto'
import type { DeliveryAttempt, DeliveryClaim, DeliveryUpdate, HealthVerdict } from '@rollcall/core/model/delivery'
import type { Participant } from '@rollcall/core/model/participant'
import { listenForWork, WORK_CHANNEL } from '@rollcall/database/queue'
import { claimBreakerProbes, findBreaker } from '@rollcall/delivery/store/deliveries/breakers'
import {
  claimDueDeliveries,
  expireDeliveries,
  findWaitingParticipants,
  readGrantAndProtectionChanges,
  recordAttempt,
} from '@rollcall/delivery/store/deliveries/deliveries'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { secondsUntilDelivery } from '../../../../../delivery/src/store/deliveries/destinations.ts'
import { aClaim, attemptsOf, dueNow, kept, newDelivery, type TestSender, takes, testSender } from '../../../deliveries.ts'

const ORIGIN = 'http://127.0.0.1:1'
const here = () => ({ participant: participant.id, origin: ORIGIN })

let sender: TestSender
let participant: Participant
let db: TestSender['database']['db']
let sending: TestSender['context']

beforeAll(async () => {
  sender = await testSender()
  db = sender.database.db
  sending = sender.context
})
beforeEach(async () => {
  participant = await takes(sender, `${randomUUID()}.example`, `${ORIGIN}/`)
})
afterAll(() => sender.close())

const FAILED: DeliveryUpdate = { state: 'pending', wait: 60, reason: null }
const DONE: DeliveryUpdate = { state: 'delivered', wait: null, reason: null }

function record(delivery: string, claim: DeliveryClaim, ended: DeliveryUpdate, health: Partial<HealthVerdict> = {}, number = 1) {
  const attempt: DeliveryAttempt = {
    delivery,
    number,
    at: new Date(),
    duration_ms: 12,
    status: ended.state === 'delivered' ? 200 : 500,
    error: ended.state === 'delivered' ? null : 'http_5xx',
    answer: null,
  }
  const about: HealthVerdict = {
    ...here(),
    peer: ended.state === 'delivered' ? 'up' : 'down',
    probe: false,
    longest_pause: 300,
    ...health,
  }
  return recordAttempt(db, attempt, ended, about, { claim: claim.id, target: 'http://t/' })
}

test('of two who claim at once each gets others, and nobody gets one twice', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => newDelivery(sender, participant)))
  const claims = [aClaim(), aClaim(), aClaim()]
  const taken = (
    await Promise.all(claims.map((claim) => claimDueDeliveries(sending, participant.id, claim, [{ origin: ORIGIN, count: 9 }])))
  ).flat()
  expect(taken.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort())
  expect(taken.every(({ number, sender_uri }) => number === 1 && sender_uri === null)).toBe(true)
  expect(await claimDueDeliveries(sending, participant.id, aClaim(), [{ origin: ORIGIN, count: 9 }])).toEqual([])
})

test('where nothing is pending nothing is due, now or later', async () => {
  expect(await secondsUntilDelivery(db, participant.id)).toBe(null)
  const { id } = await newDelivery(sender, participant)
  expect(await secondsUntilDelivery(db, participant.id)).toBe(0)
  const claim = aClaim()
  await claimDueDeliveries(sending, participant.id, claim, [{ origin: ORIGIN, count: 1 }])
  expect(await record(id, claim, DONE)).toBe(true)
  expect(await secondsUntilDelivery(db, participant.id)).toBe(null)
})

test('the longest waiting is taken first; what is not due, or of others, is not', async () => {
  const [first, later] = [await newDelivery(sender, participant), await newDelivery(sender, participant)]
  const other = await takes(sender, `${randomUUID()}.example`, null)
  await newDelivery(sender, other)
  await db.pool.query(`update delivery set next_attempt_at = now() + interval '1 hour' where id = $1`, [later.id])
  expect(await claimDueDeliveries(sending, participant.id, aClaim(), [{ origin: ORIGIN, count: 9 }])).toMatchObject([
    { id: first.id },
  ])
  expect(await secondsUntilDelivery(db, participant.id)).toBeGreaterThan(1)
})

test('a claim that ended is taken over, its attempt noted as interrupted, and its own record does not count', async () => {
  const { id } = await newDelivery(sender, participant)
  const lost = { id: randomUUID(), seconds: 0 }
  await claimDueDeliveries(sending, participant.id, lost, [{ origin: ORIGIN, count: 1 }])
  const claim = aClaim()
  expect(await claimDueDeliveries(sending, participant.id, claim, [{ origin: ORIGIN, count: 1 }])).toMatchObject([
    { id, number: 2 },
  ])
  expect(await attemptsOf(sender, id)).toMatchObject([{ number: 1, error: 'interrupted' }])
  expect(await record(id, lost, DONE)).toBe(false)
  expect(await kept(sender, id)).toMatchObject({ state: 'pending', attempts: 2, claimed: true })
  // Partial knowledge of an attempt is better than none.
  expect(await attemptsOf(sender, id)).toMatchObject([{ number: 1, status: 200, error: null }])
  expect(await record(id, claim, DONE, {}, 2)).toBe(true)
  expect(await kept(sender, id)).toMatchObject({ state: 'delivered', wait: null, claimed: false })
})

test('what was dropped while it was attempted stays dropped', async () => {
  const { id } = await newDelivery(sender, participant)
  const claim = aClaim()
  await claimDueDeliveries(sending, participant.id, claim, [{ origin: ORIGIN, count: 1 }])
  await db.pool.query(`update delivery set state = 'dropped', next_attempt_at = null where id = $1`, [id])
  expect(await record(id, claim, DONE)).toBe(false)
  expect(await kept(sender, id)).toMatchObject({ state: 'dropped' })
  expect(await attemptsOf(sender, id)).toHaveLength(1)
})

test('successes that end at once are written together, each as its own claim says', async () => {
  const claim = aClaim()
  const made = await Promise.all(Array.from({ length: 12 }, () => newDelivery(sender, participant, { claim })))
  await record((await newDelivery(sender, participant, { claim })).id, claim, FAILED)
  const [first, last] = [made[0]?.id ?? '', made.at(-1)?.id ?? '']
  await db.pool.query(`update delivery set state = 'dropped', next_attempt_at = null, claim = null where id = $1`, [last])
  const query = vi.spyOn(db.pool, 'query')
  const counted = await Promise.all(made.map(({ id }) => record(id, id === first ? aClaim() : claim, DONE)))
  expect(query.mock.calls.length).toBeLessThanOrEqual(2)
  query.mockRestore()
  expect(counted).toEqual(made.map(({ id }) => id !== first && id !== last))
  const states = await Promise.all(made.map(async ({ id }) => (await kept(sender, id)).state))
  expect(states).toEqual(['pending', ...Array(10).fill('delivered'), 'dropped'])
  for (const { id } of made) expect(await attemptsOf(sender, id)).toMatchObject([{ number: 1, status: 200 }])
  expect(await findBreaker(db, here())).toMatchObject({ opened_at: null })
})

test('a failure is attempted again when it said', async () => {
  const { id } = await newDelivery(sender, participant)
  const claim = aClaim()
  await claimDueDeliveries(sending, participant.id, claim, [{ origin: ORIGIN, count: 1 }])
  await record(id, claim, FAILED)
  const row = await kept(sender, id)
  expect(row).toMatchObject({ state: 'pending', claimed: false, target: 'http://t/' })
  expect(row.wait).toBeGreaterThan(20)
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeGreaterThan(20)
})

test('participants are found to whom something is on its way, each once', async () => {
  const others = await Promise.all([1, 2].map(() => takes(sender, `${randomUUID()}.example`, `${ORIGIN}/`)))
  expect(await findWaitingParticipants(db)).not.toContain(participant.id)
  for (const to of [...others, participant, participant]) await newDelivery(sender, to)
  const waiting = await findWaitingParticipants(db)
  for (const { id } of [...others, participant]) expect(waiting.filter((one) => one === id)).toEqual([id])
})

test('nodes that listen are told of a participant for whom something may be due, and of nothing else', async () => {
  const listening = new AbortController()
  const heard: unknown[] = []
  const listened = listenForWork(db.connection, {
    signal: listening.signal,
    onExchanges: () => heard.push('exchange'),
    onDeliveries: (id) => heard.push(id),
    onMailboxes: () => heard.push('mailbox'),
    onAnyMailbox: () => heard.push('any mailbox'),
    onOutbox: () => heard.push('outbox'),
    onSources: () => heard.push('sources'),
  })
  await vi.waitFor(async () => {
    await db.pool.query('select pg_notify($1, $2)', [WORK_CHANNEL, String(participant.id)])
    expect(heard.length).toBeGreaterThan(0)
  }, 60_000)
  expect(new Set(heard)).toEqual(new Set([participant.id]))
  listening.abort()
  await listened
})

const fail = async (times: number, health: Partial<HealthVerdict> = {}): Promise<void> => {
  for (let at = 0; at < times; at += 1) {
    const { id } = await newDelivery(sender, participant)
    const claim = aClaim()
    await claimDueDeliveries(sending, participant.id, claim, [{ origin: ORIGIN, count: 1 }])
    await record(id, claim, { state: 'dead', wait: null, reason: 'http_5xx' }, health)
  }
}

test('five failures in a row open the breaker, what fails beside them changes nothing', async () => {
  await fail(4)
  expect(await findBreaker(db, here())).toEqual({ failures: 4, opened_at: null, probe_in: null })
  await fail(1)
  const opened = await findBreaker(db, here())
  expect(opened).toMatchObject({ failures: 5, opened_at: expect.any(Date) })
  expect(opened.probe_in).toBeGreaterThan(8)
  expect(opened.probe_in).toBeLessThanOrEqual(10)
  await fail(3)
  expect(await findBreaker(db, here())).toMatchObject({ failures: 5, opened_at: opened.opened_at })
})

test('a success between them begins anew; what is our own trouble counts for nothing', async () => {
  await fail(4)
  await fail(3, { peer: 'unknown' })
  expect(await findBreaker(db, here())).toMatchObject({ failures: 4 })
  await fail(1, { peer: 'up' })
  expect(await findBreaker(db, here())).toEqual({ failures: 0, opened_at: null, probe_in: null })
})

test('one of all nodes probes; pauses double, up to the longest', async () => {
  const longest = { longest_pause: 35 }
  await fail(5, longest)
  expect(await claimBreakerProbes(db, participant.id, [ORIGIN], 15)).toEqual([])
  for (const pause of [20, 35, 35]) {
    await db.pool.query('update breaker set probe_at = now() where participant = $1', [participant.id])
    const taken = await Promise.all([1, 2, 3].map(() => claimBreakerProbes(db, participant.id, [ORIGIN, 'http://b'], 15)))
    expect(taken.flat()).toEqual([ORIGIN])
    await fail(1, { ...longest, probe: true })
    const { probe_in } = await findBreaker(db, here())
    expect(probe_in).toBeGreaterThan(pause - 2)
    expect(probe_in).toBeLessThanOrEqual(pause)
  }
})

test('what waited longer than its schedule lasts is given up, but not what is being attempted', async () => {
  const [old, attempted, young] = [
    await newDelivery(sender, participant),
    await newDelivery(sender, participant, { claim: aClaim() }),
    await newDelivery(sender, participant),
  ]
  await db.pool.query(`update delivery set since = now() - interval '2 hours' where id = any($1)`, [[old.id, attempted.id]])
  expect(await expireDeliveries(db, here(), 3_600)).toBe(1)
  expect(await kept(sender, old.id)).toMatchObject({ state: 'dead', reason: 'expired' })
  expect(await kept(sender, attempted.id)).toMatchObject({ state: 'pending' })
  expect(await kept(sender, young.id)).toMatchObject({ state: 'pending' })
  await dueNow(sender, participant.id)
  expect(await secondsUntilDelivery(db, participant.id)).toBe(0)
})

test('a delivery that is not stored any more counts as changed', async () => {
  expect(await readGrantAndProtectionChanges(db.pool, randomUUID(), 1)).toEqual({ grant: true, protection: true })
})
