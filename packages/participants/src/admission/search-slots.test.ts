import { beforeEach, describe, expect, it } from 'vitest'
import { createSearchSlots, type SearchSlots } from './search-slots.ts'

const [ADA, BO, CAI, DEE] = [1, 2, 3, 4] as const

/** Begun searches, in order. */
let begun: string[]
let ends: Map<string, () => void>
let searchSlots: SearchSlots

beforeEach(() => {
  begun = []
  ends = new Map()
  searchSlots = createSearchSlots({ slots: 6, timeout: 60 })
})

/** A search that goes on until `end`. Those that still wait when their test is over are refused later, and nobody looks. */
function search(participant: number, name: string): Promise<string> {
  const searched = searchSlots.run(participant, async () => {
    begun.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    return name
  })
  searched.catch(() => undefined)
  return searched
}

async function end(name: string): Promise<void> {
  ends.get(name)?.()
  await new Promise((resolve) => setImmediate(resolve))
}

const searches = (participant: number, ...names: string[]): Promise<string>[] => names.map((name) => search(participant, name))

describe('slots of searches', () => {
  it('are half for one participant; the others of its own wait behind them, in order', async () => {
    const all = searches(ADA, 'a1', 'a2', 'a3', 'a4', 'a5')
    expect(begun).toEqual(['a1', 'a2', 'a3'])
    search(BO, 'b1')
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1'])
    await end('a2')
    await end('a1')
    expect(begun.slice(4)).toEqual(['a4', 'a5'])
    for (const name of ['a3', 'a4', 'a5']) await end(name)
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
  })

  it('are never all for two: the last is for who holds none', async () => {
    searches(ADA, 'a1', 'a2', 'a3', 'a4')
    searches(BO, 'b1', 'b2', 'b3')
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
    search(CAI, 'c1')
    expect(begun.at(-1)).toBe('c1')
  })

  it('come free for who holds the fewest, and in turn among equals', async () => {
    searches(ADA, 'a1', 'a2', 'a3', 'a4')
    searches(BO, 'b1', 'b2', 'b3')
    searches(CAI, 'c1', 'c2')
    searches(DEE, 'd1', 'd2')
    begun.length = 0
    await end('a1')
    expect(begun).toEqual(['d1'])
    // One place is free and everybody who waits holds one: it is kept for others.
    await end('a2')
    expect(begun).toEqual(['d1'])
    await end('a3')
    // Ada holds none now.
    expect(begun).toEqual(['d1', 'a4'])
    await end('b1')
    expect(begun).toEqual(['d1', 'a4', 'b3'])
    await end('a4')
    expect(begun).toEqual(['d1', 'a4', 'b3', 'c2'])
    await end('c2')
    expect(begun).toEqual(['d1', 'a4', 'b3', 'c2', 'd2'])
  })

  it('are given back when the work fails', async () => {
    const fail = () =>
      searchSlots.run(ADA, async () => {
        throw new Error('lost')
      })
    for (let times = 0; times < 7; times += 1) await expect(fail()).rejects.toThrow('lost')
    searches(ADA, 'a1', 'a2', 'a3')
    expect(begun).toEqual(['a1', 'a2', 'a3'])
  })

  it('go round, also where there is one', async () => {
    searchSlots = createSearchSlots({ slots: 1, timeout: 60 })
    searches(ADA, 'a1', 'a2', 'a3', 'a4')
    searches(BO, 'b1', 'b2')
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(name)
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
  })
})

describe('a search that waits for a slot', () => {
  const refusal = (message: string) => ({
    name: 'RequestFault',
    code: 'err.service.unavailable',
    httpStatus: 503,
    retryAfter: 5,
    message,
  })

  it('is refused after its time: for searches of its own, or of others', async () => {
    searchSlots = createSearchSlots({ slots: 4, timeout: 0.05 })
    searches(ADA, 'a1', 'a2')
    searches(BO, 'b1')
    searches(CAI, 'c1')
    const [more, other] = await Promise.allSettled([search(ADA, 'a3'), search(DEE, 'd1')])
    expect(more).toMatchObject({
      reason: refusal(
        'a search was not begun within 0.05 seconds: too many slow searches of this participant are under way; send fewer at a time',
      ),
    })
    expect(other).toMatchObject({
      reason: refusal('a search was not begun within 0.05 seconds: too many slow searches are under way; try again later'),
    })
    // They have left the queue: whoever comes next is served.
    await end('a1')
    await end('b1')
    search(DEE, 'd2')
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'd2'])
  })

  it('is refused at once where too many of its own wait, and nobody else is', async () => {
    searchSlots = createSearchSlots({ slots: 2, timeout: 60, waiting: 2 })
    searches(ADA, 'a1', 'a2', 'a3')
    await expect(search(ADA, 'a4')).rejects.toMatchObject(
      refusal('more than 2 searches of this participant are waiting; send fewer at a time'),
    )
    search(BO, 'b1')
    expect(begun).toEqual(['a1', 'b1'])
    await end('a1')
    await end('b1')
    await end('a2')
    expect(begun).toEqual(['a1', 'b1', 'a2', 'a3'])
  })
})

it('without a timeout they wait as long as it takes, however many there are', async () => {
  searchSlots = createSearchSlots({ slots: 2, timeout: null, waiting: 2 })
  const all = searches(ADA, 'a1', 'a2', 'a3', 'a4', 'a5', 'a6')
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) await end(name)
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'])
})
