import { openDatabase } from '@rollcall/database/database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { type TokensTaken, type TokensWanted, takeTokens } from '../store/quotas.ts'
import { createRateLimiter, type RateLimiter } from './rate.ts'

/** A shared bucket in memory, and a clock, both in the test's hand. */
function bucket(tokens: number) {
  const asked: TokensWanted[] = []
  const state = { tokens, time: 0, failing: false }
  const take = async (question: TokensWanted): Promise<TokensTaken> => {
    asked.push(question)
    await Promise.resolve()
    if (state.failing) throw new Error('away')
    const granted = Math.floor(Math.min(state.tokens, question.wanted))
    state.tokens -= granted
    return { granted, left: state.tokens }
  }
  return { asked, state, take, now: () => state.time }
}

/** The number of `count` concurrent requests that pass. */
async function passing(rates: RateLimiter, count: number, rate: number): Promise<number> {
  const waits = await Promise.all(Array.from({ length: count }, () => rates.pass('b', rate)))
  return waits.filter((wait) => wait === 0).length
}

describe('createRates', () => {
  it('asks once for a slice and hands it out from memory', async () => {
    const shared = bucket(1_000)
    const rates = createRateLimiter(shared.take, shared.now)
    for (let request = 0; request < 5; request += 1) expect(await rates.pass('b', 100)).toBe(0)
    expect(shared.asked).toEqual([{ bucket: 'b', rate: 100, capacity: 100, wanted: 10 }])
  })

  it('asks for the next slice before the last one is used up', async () => {
    const shared = bucket(1_000)
    const rates = createRateLimiter(shared.take, shared.now)
    for (let request = 0; request < 6; request += 1) await rates.pass('b', 100)
    expect(shared.asked.map(({ wanted }) => wanted)).toEqual([10, 6])
    await Promise.resolve()
    expect(shared.state.tokens).toBe(1_000 - 16)
  })

  it('asks for all that wait, in one question', async () => {
    const shared = bucket(1_000)
    const rates = createRateLimiter(shared.take, shared.now)
    expect(await passing(rates, 200, 100)).toBe(200)
    expect(shared.asked.length).toBeLessThan(6)
  })

  it('lets through what there is and says how long the rest should wait', async () => {
    const shared = bucket(30)
    const rates = createRateLimiter(shared.take, shared.now)
    expect(await passing(rates, 50, 100)).toBe(30)
    expect(await rates.pass('b', 100)).toBeCloseTo(0.1)
    const questions = shared.asked.length
    shared.state.time = 99
    expect(await passing(rates, 1_000, 100)).toBe(0)
    expect(shared.asked.length).toBe(questions)
    shared.state.time = 101
    shared.state.tokens = 10
    expect(await passing(rates, 20, 100)).toBe(10)
  })

  it.each([0.5, 1, 10])('never holds a token that nobody asked for at %d a second', async (rate) => {
    const shared = bucket(1)
    const rates = createRateLimiter(shared.take, shared.now)
    expect(await rates.pass('b', rate)).toBe(0)
    expect(shared.asked).toEqual([{ bucket: 'b', rate, capacity: Math.max(1, rate), wanted: 1 }])
    expect(await rates.pass('b', rate)).toBeCloseTo(1 / rate)
  })

  it('asks nobody where there is no limit', async () => {
    const shared = bucket(0)
    const rates = createRateLimiter(shared.take, shared.now)
    expect(await passing(rates, 1_000, Infinity)).toBe(1_000)
    expect(shared.asked).toEqual([])
  })

  it('lets nothing through that it cannot count, and goes on when it can', async () => {
    const shared = bucket(100)
    const rates = createRateLimiter(shared.take, shared.now)
    shared.state.failing = true
    const results = await Promise.allSettled([1, 2, 3].map(() => rates.pass('b', 100)))
    expect(results).toEqual(Array(3).fill({ status: 'rejected', reason: new Error('away') }))
    expect(shared.asked).toHaveLength(1)
    shared.state.failing = false
    expect(await rates.pass('b', 100)).toBe(0)
  })

  it('a question in good time that fails fails nobody who has a token', async () => {
    const shared = bucket(100)
    const rates = createRateLimiter(shared.take, shared.now)
    await rates.pass('b', 100)
    shared.state.failing = true
    expect(await passing(rates, 9, 100)).toBe(9)
    await expect(rates.pass('b', 100)).rejects.toThrow('away')
  })

  it('takes back what was not used', async () => {
    const shared = bucket(1)
    const rates = createRateLimiter(shared.take, shared.now)
    await rates.pass('b', 1)
    rates.giveBack('b')
    rates.giveBack('unknown')
    expect(await passing(rates, 2, 1)).toBe(1)
  })
})

describe('two nodes on one database', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  it('share one rate: a burst, and then what flows in', async () => {
    const other = openDatabase(database.connection)
    let time = 0
    const nodes = [database.db, other].map((db) =>
      createRateLimiter(
        (asked) => takeTokens(db, asked),
        () => time,
      ),
    )
    const began = performance.now()
    const burst = () => Promise.all(nodes.flatMap((node) => Array.from({ length: 200 }, () => node.pass('shared', 100))))
    const waits = await burst()
    // Half a second passes, for the nodes and for the bucket.
    time += 500
    await database.db.pool.query("update quota_bucket set refilled_at = refilled_at - interval '500 ms' where bucket = 'shared'")
    waits.push(...(await burst()))
    const seconds = 0.5 + (performance.now() - began) / 1_000
    const passed = waits.filter((wait) => wait === 0).length
    // The bucket, what flowed in, and a slice for each node.
    expect(passed).toBeLessThanOrEqual(100 + 100 * seconds + 2 * 10)
    expect(passed).toBeGreaterThanOrEqual(150)
    await other.close()
  })

  it('a participant that floods takes nothing from another', async () => {
    const other = openDatabase(database.connection)
    const nodes = [database.db, other].map((db) => createRateLimiter((asked) => takeTokens(db, asked)))
    const began = performance.now()
    const flood = nodes.flatMap((node) => Array.from({ length: 500 }, () => node.pass('loud', 50)))
    const quiet = nodes.flatMap((node) => Array.from({ length: 20 }, () => node.pass('quiet', 50)))
    expect((await Promise.all(quiet)).filter((wait) => wait > 0)).toEqual([])
    const passed = (await Promise.all(flood)).filter((wait) => wait === 0).length
    // The bucket, what flowed in, and a slice for each node.
    expect(passed).toBeLessThanOrEqual(50 + (50 * (performance.now() - began)) / 1_000 + 2 * 5)
    await other.close()
  })
})
