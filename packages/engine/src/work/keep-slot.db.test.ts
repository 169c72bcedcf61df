/** Exchanges that a node claims when it accepts them. */
import { randomBytes, randomUUID } from 'node:crypto'
import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { WORK_CHANNEL } from '@rollcall/database/queue'
import { createLog } from '@rollcall/observe/log'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import type { ReservedWorkerSlot } from '../exchange/acceptance-slots.ts'
import { type AcceptedExchange, findAcceptedExchange, SMALL_REQUEST_BYTES } from '../store/exchanges/accepted-exchanges.ts'
import { type ClaimedExchange, claimExchanges } from '../store/exchanges/claims.ts'
import { createReceivedMessageStore } from '../store/exchanges/exchanges.ts'
import { createExchangeWork, type ExchangeWork } from './exchanges.ts'

let database: TestDatabase
let work: ExchangeWork
let begun: ClaimedExchange[]
let goOn: () => void
let stopping: AbortController

beforeEach(async () => {
  database = await testDatabase()
  const held = Promise.withResolvers<void>()
  goOn = held.resolve
  begun = []
  stopping = new AbortController()
  // 8 slots: a participant has 2 of them at most, and the last one is kept for others.
  work = createExchangeWork({
    pool: database.db.claims,
    slots: 8,
    large: 1,
    batches: 2,
    lease: 60,
    clock: SYSTEM_CLOCK,
    log: createLog({ level: 'silent' }),
    metrics: { taskEnded: () => undefined },
    wake: () => undefined,
    async answer(exchange) {
      begun.push(exchange)
      await held.promise
    },
  })
})

afterEach(async () => {
  goOn()
  await work.leave()
  await database.close()
})

function asked(participant: number, changes: Partial<AcceptedExchange> = {}): AcceptedExchange {
  const id = randomUUID()
  return {
    id,
    correlation_id: id,
    participant,
    registry: 1,
    operation: 'search',
    transaction_id: id,
    sender_uri: 'https://a.example/',
    encrypted: true,
    items: 1,
    references_stored: true,
    parent: null,
    open_chunks: null,
    first_item: 0,
    request: Buffer.from('sealed'),
    request_bytes: 6,
    state: 'accepted',
    page: 0,
    received_at: new Date(),
    started_at: new Date(),
    ...changes,
  }
}

const keep = (participant: number, changes: Partial<AcceptedExchange> = {}) =>
  work.keepSlot(asked(participant, changes), stopping.signal)

/** Accepts an exchange, with the claim of a slot that is reserved for it. */
async function accept(exchange: AcceptedExchange, slot: ReservedWorkerSlot | null): Promise<void> {
  const { id, sender_uri, encrypted, items, request, request_bytes } = exchange
  await createReceivedMessageStore(database.db, { waiting: 10 }).remember({
    ...exchange,
    message_id: id,
    fingerprint: randomBytes(32),
    accepted: {
      sender_uri,
      encrypted,
      reference_ids: ['r-1'],
      chunks: [{ id, items, request: request ?? Buffer.alloc(0), request_bytes }],
      claim: slot?.claim ?? null,
    },
  })
}

const SLOTS = { free: 8, share: 8, reserve: 0, large: 1, batches: 1, batchShare: 1 }
const claimedElsewhere = () => claimExchanges(database.db.claims, { id: randomUUID(), seconds: 60 }, SLOTS, [])

test('an exchange for which a slot is kept is accepted with its claim, and answered as if it had been claimed', async () => {
  await work.poll(stopping.signal)
  const exchange = asked(1)
  const slot = work.keepSlot(exchange, stopping.signal)
  expect(slot?.claim.seconds).toBe(60)
  await accept(exchange, slot)
  expect(await claimedElsewhere()).toEqual([])
  slot?.begin()
  const { rows } = await database.db.pool.query('select claim, runs, claimed_until > now() as held from accepted_exchange')
  expect(rows).toEqual([{ claim: slot?.claim.id, runs: 1, held: true }])
  const times = { received_at: expect.any(Date), started_at: expect.any(Date) }
  const stored = await findAcceptedExchange(database.db, exchange.id)
  expect(begun).toEqual([{ ...stored, ...times, claim: slot?.claim.id, runs: 1 }])
})

test('when the node dies after it has accepted, another one claims the exchange at the end of the claim', async () => {
  await work.poll(stopping.signal)
  const exchange = asked(1)
  await accept(exchange, work.keepSlot(exchange, stopping.signal))
  await database.db.pool.query(`update accepted_exchange set claimed_until = now() - interval '1 second'`)
  expect(await claimedElsewhere()).toMatchObject([{ id: exchange.id, runs: 2 }])
})

test('a node that stops gives back what it has claimed so', async () => {
  await work.poll(stopping.signal)
  const exchange = asked(1)
  const slot = work.keepSlot(exchange, stopping.signal)
  await accept(exchange, slot)
  slot?.begin()
  await work.leave()
  expect(await claimedElsewhere()).toMatchObject([{ id: exchange.id, runs: 1 }])
})

test('no slot is kept before a poll has found the queue empty, nor when the node stops', async () => {
  expect(keep(1)).toBeNull()
  const waiting = asked(1)
  await accept(waiting, null)
  await work.poll(stopping.signal)
  expect(begun).toMatchObject([{ id: waiting.id }])
  // Others may wait behind the one that was found.
  expect(keep(2)).toBeNull()
  await work.poll(stopping.signal)
  const polling = work.poll(stopping.signal)
  expect(keep(2)).toBeNull()
  await polling
  expect(keep(2)).not.toBeNull()
  stopping.abort()
  expect(keep(3)).toBeNull()
  await work.leave()
})

test('a kept slot counts: while a participant has its share in work, and for the last slots, none is kept', async () => {
  await work.poll(stopping.signal)
  const [first, second] = [keep(1), keep(1)]
  expect(first).not.toBeNull()
  expect(second).not.toBeNull()
  expect(keep(1)).toBeNull()
  // The first participant may have more that waits, so others wait for the next poll too.
  expect(keep(2)).toBeNull()
  // The poll takes no more of the first participant, and finds that of the second.
  for (const participant of [1, 1, 2]) await accept(asked(participant), null)
  await work.poll(stopping.signal)
  expect(begun.map(({ participant }) => participant)).toEqual([2])
  second?.free()
  await work.poll(stopping.signal)
  expect(begun.map(({ participant }) => participant)).toEqual([2, 1])
  first?.free()
})

test('of the last slots none is kept', async () => {
  await work.poll(stopping.signal)
  const kept = [1, 2, 3, 4, 5, 6, 7, 8].map((participant) => keep(participant))
  expect(kept.map((slot) => slot !== null)).toEqual([true, true, true, true, true, true, true, false])
  for (const slot of kept) slot?.free()
})

test('no slot is kept for a batch or a large request, nor beside one', async () => {
  await work.poll(stopping.signal)
  expect(keep(1, { items: 2 })).toBeNull()
  expect(keep(1, { request_bytes: SMALL_REQUEST_BYTES + 1 })).toBeNull()
  await accept(asked(1, { items: 2 }), null)
  await work.poll(stopping.signal)
  await work.poll(stopping.signal)
  expect(begun).toHaveLength(1)
  expect(keep(2)).toBeNull()
})

test('workers are told of what waits for a claim, and of nothing else', async () => {
  const client = new pg.Client(database.connection)
  await client.connect()
  try {
    const told: (string | undefined)[] = []
    client.on('notification', ({ payload }) => told.push(payload))
    await client.query(`listen ${WORK_CHANNEL}`)
    await work.poll(stopping.signal)
    const exchange = asked(1)
    await accept(exchange, work.keepSlot(exchange, stopping.signal))
    await accept(asked(1), null)
    await vi.waitFor(() => expect(told).not.toEqual([]))
    expect(told).toEqual([''])
  } finally {
    await client.end()
  }
})
