import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../keys/test/postgres.ts'
import { SMALL_REQUEST_BYTES } from './accepted-exchanges.ts'
import {
  type ClaimLimits,
  claimExchanges,
  countOverdueExchanges,
  type ExchangeInWork,
  releaseClaims,
  renewClaims,
} from './claims.ts'
import { createReceivedMessageStore } from './exchanges.ts'

let database: TestDatabase
beforeEach(async () => {
  await database?.close()
  database = await testDatabase()
})
afterAll(() => database.close())

const [ADA, BO, CAI] = [1, 2, 3] as const
const query = (text: string, values: unknown[] = []) => database.db.pool.query(text, values)

/** Accepts exchanges one after the other; their message_ids. */
async function accepted(participant: number, names: readonly string[], request_bytes = 10, items = 1): Promise<void> {
  const memory = createReceivedMessageStore(database.db, { waiting: 1_000 })
  for (const message_id of names) {
    const correlation_id = randomUUID()
    await memory.remember({
      correlation_id,
      participant,
      message_id,
      fingerprint: randomBytes(32),
      registry: 1,
      operation: 'search',
      transaction_id: message_id,
      accepted: {
        sender_uri: null,
        encrypted: false,
        reference_ids: ['r-1'],
        chunks: [{ id: correlation_id, request: Buffer.from('sealed'), request_bytes, items }],
      },
    })
  }
}

const SLOTS: ClaimLimits = { free: 10, share: 10, reserve: 1, large: 2, batches: 4, batchShare: 2 }

/** Exchanges of a participant that are in work, with requests of this size. */
const busy = (participant: number, count: number, size: Partial<ExchangeInWork> = {}): ExchangeInWork[] =>
  Array.from({ length: count }, () => ({ id: randomUUID(), participant, request_bytes: 10, items: 1, ...size }))
const claim = (seconds = 60) => ({ id: randomUUID(), seconds })

async function claimed(slots: Partial<ClaimLimits> = {}, inWork: readonly ExchangeInWork[] = []): Promise<string[]> {
  const rows = await claimExchanges(database.db.claims, claim(), { ...SLOTS, ...slots }, inWork)
  return rows.map(({ transaction_id }) => transaction_id)
}

test('what is due is claimed once, by one of all that ask at a time', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `a${index}`)
  await accepted(ADA, names)
  const all = await Promise.all([1, 2, 3].map(() => claimed({ free: 30, share: 30 })))
  const rest = await claimed({ free: 30, share: 30 })
  expect([...all.flat(), ...rest].sort()).toEqual(names.sort())
  expect(await claimed()).toEqual([])
})

test('a claimed exchange comes with what is needed to answer it', async () => {
  await accepted(ADA, ['a1'])
  const { id, seconds } = claim()
  const [exchange] = await claimExchanges(database.db.claims, { id, seconds }, SLOTS, [])
  expect(exchange).toMatchObject({
    participant: ADA,
    registry: 1,
    operation: 'search',
    transaction_id: 'a1',
    items: 1,
    page: 0,
    claim: id,
    runs: 1,
    state: 'accepted',
    parent: null,
    request: Buffer.from('sealed'),
    started_at: expect.any(Date),
  })
  expect(exchange?.id).toBe(exchange?.correlation_id)
})

test('participants have their turns: the first of each before the second of any', async () => {
  await accepted(ADA, ['a1', 'a2', 'a3', 'a4'])
  await accepted(BO, ['b1', 'b2'])
  await accepted(CAI, ['c1'])
  const names = await claimed({ free: 5 })
  expect(names).toHaveLength(4)
  expect(names).toEqual(expect.arrayContaining(['a1', 'b1', 'c1']))
})

test('a participant has its share of the slots, with what it has in work, and never the last slot beside that', async () => {
  await accepted(ADA, ['a1', 'a2', 'a3', 'a4'])
  expect(await claimed({ free: 6, share: 3 })).toEqual(['a1', 'a2', 'a3'])
  const three = busy(ADA, 3)
  expect(await claimed({ free: 3, share: 3 }, three)).toEqual([])
  const two = busy(ADA, 2)
  expect(await claimed({ free: 1, share: 3 }, two)).toEqual([])
  await accepted(BO, ['b1'])
  expect(await claimed({ free: 1, share: 3 }, two)).toEqual(['b1'])
  expect(await claimed({ free: 2, share: 3 }, two)).toEqual(['a4'])
})

test('a participant that has nothing in work is served before one that has', async () => {
  await accepted(ADA, ['a1', 'a2'])
  await accepted(BO, ['b1', 'b2'])
  expect(await claimed({ free: 3 }, busy(ADA, 2))).toEqual(['b1', 'b2'])
})

test('of large requests one of each participant is in work, and no more of all than there may be', async () => {
  for (const [participant, letter] of [
    [ADA, 'A'],
    [BO, 'B'],
    [CAI, 'C'],
  ] as const) {
    await accepted(participant, [`${letter}1`, `${letter}2`], SMALL_REQUEST_BYTES + 1)
    await accepted(participant, [letter.toLowerCase()])
  }
  const first = await claimed()
  const large = first.filter((name) => name.length === 2)
  expect(large).toHaveLength(2)
  expect(large.every((name) => name.endsWith('1'))).toBe(true)
  // Small ones do not wait behind their own large ones.
  expect(first.filter((name) => name.length === 1).sort()).toEqual(['a', 'b', 'c'])
  const inWork = [ADA, BO].flatMap((participant) => busy(participant, 1, { request_bytes: SMALL_REQUEST_BYTES + 1 }))
  expect(await claimed({}, inWork)).toEqual([])
  await query(`update accepted_exchange set claim = null, claimed_until = null`)
  const third = await claimed({}, inWork.slice(0, 1))
  expect(third.filter((name) => name.length === 2)).toHaveLength(1)
  expect(third.some((name) => name.startsWith('A'))).toBe(false)
})

test('of batches a participant has its share, and all together no more than there are connections for', async () => {
  await accepted(ADA, ['A1', 'A2', 'A3'], 10, 2)
  await accepted(ADA, ['a'])
  await accepted(BO, ['B1', 'B2', 'B3'], 10, 5)
  expect((await claimed()).sort()).toEqual(['A1', 'A2', 'B1', 'B2', 'a'])
  expect(await claimed({}, busy(ADA, 2, { items: 2 }))).toEqual(['B3'])
  expect(await claimed({}, busy(CAI, 4, { items: 9 }))).toEqual([])
})

test('which participant is first differs from time to time, so that nobody is last always', async () => {
  const first = new Set<string>()
  for (let round = 0; round < 40 && first.size < 2; round += 1) {
    await accepted(ADA, [`a${round}`])
    await accepted(BO, [`b${round}`])
    const [name = ''] = await claimed({ free: 1 })
    first.add(name.slice(0, 1))
  }
  expect(first.size).toBe(2)
})

test('what this node is answering is not claimed again, though its claim has ended', async () => {
  await accepted(ADA, ['a1'])
  const exchanges = await claimExchanges(database.db.claims, claim(), SLOTS, [])
  await query(`update accepted_exchange set claimed_until = now() - interval '1 second'`)
  expect(await claimed({}, exchanges)).toEqual([])
  expect(await claimed()).toEqual(['a1'])
})

test('a claim lasts as long as it is renewed, and another one follows it', async () => {
  await accepted(ADA, ['a1'])
  const [first] = await claimExchanges(database.db.claims, claim(), SLOTS, [])
  if (first === undefined) throw new Error('nothing was claimed')
  const end = () => query(`update accepted_exchange set claimed_until = now() - interval '1 second'`)
  await end()
  await renewClaims(database.db.claims, [first], 60)
  expect(await claimed()).toEqual([])
  await end()
  const [second] = await claimExchanges(database.db.claims, claim(), SLOTS, [])
  expect(second).toMatchObject({ id: first.id, runs: 2 })
  await end()
  // It is not the first one's any more.
  await renewClaims(database.db.claims, [first], 60)
  expect(await claimed()).toEqual(['a1'])
})

test('a claim that is given back is due again when it is said', async () => {
  await accepted(ADA, ['a1'])
  const [first] = await claimExchanges(database.db.claims, claim(), SLOTS, [])
  if (first === undefined) throw new Error('nothing was claimed')
  await releaseClaims(database.db.claims, [{ ...first, claim: randomUUID() }], { seconds: 0, counted: true })
  expect(await claimed()).toEqual([])
  await releaseClaims(database.db.claims, [first], { seconds: 3_600, counted: false })
  expect(await claimed()).toEqual([])
  expect((await query('select runs from accepted_exchange')).rows).toEqual([{ runs: 0 }])
  await query('update accepted_exchange set due_at = now()')
  expect(await claimed()).toEqual(['a1'])
})

test('what is due for a minute without a claim is counted', async () => {
  await accepted(ADA, ['a1', 'a2', 'a3'])
  expect(await countOverdueExchanges(database.db)).toBe(0)
  await query(`update accepted_exchange set due_at = now() - interval '2 minutes'`)
  await claimed({ free: 1 })
  expect(await countOverdueExchanges(database.db)).toBe(2)
})
