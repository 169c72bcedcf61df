import { beforeEach, describe, expect, it } from 'vitest'
import { createSearchPlaces, NoPlace, type SearchPlaces } from './search-places.ts'

const [ADA, BO, CAI, DEE] = [1, 2, 3, 4] as const

/** What has begun, in order. */
let begun: string[]
let ends: Map<string, () => void>
let places: SearchPlaces

beforeEach(() => {
  begun = []
  ends = new Map()
  places = createSearchPlaces({ places: 6, patience: 60 })
})

/** A search that goes on until `end`. */
function search(participant: number, name: string): Promise<string> {
  return places.run(participant, async () => {
    begun.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    return name
  })
}

async function end(name: string): Promise<void> {
  ends.get(name)?.()
  await new Promise((resolve) => setImmediate(resolve))
}

const searches = (participant: number, ...names: string[]): Promise<string>[] =>
  names.map((name) => search(participant, name))

describe('places of searches', () => {
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
      places.run(ADA, async () => {
        throw new Error('lost')
      })
    for (let times = 0; times < 7; times += 1) await expect(fail()).rejects.toThrow('lost')
    searches(ADA, 'a1', 'a2', 'a3')
    expect(begun).toEqual(['a1', 'a2', 'a3'])
  })

  it('go round, also where there is one', async () => {
    places = createSearchPlaces({ places: 1, patience: 60 })
    searches(ADA, 'a1', 'a2', 'a3', 'a4')
    searches(BO, 'b1', 'b2')
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(name)
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
  })
})

describe('who waits for a place', () => {
  const rejection = (message: string) => ({
    name: 'ItemRejection',
    code: 'rjct.search_criteria.invalid',
    message: `search_criteria.query: ${message}`,
  })

  it('is refused after its time: for searches of its own, or of others', async () => {
    places = createSearchPlaces({ places: 4, patience: 0.05 })
    searches(ADA, 'a1', 'a2')
    searches(BO, 'b1')
    searches(CAI, 'c1')
    const [more, other] = await Promise.allSettled([search(ADA, 'a3'), search(DEE, 'd1')])
    expect(more).toMatchObject({
      reason: rejection(
        'not begun within 0.05 seconds: too many slow searches of this participant are under way; send fewer at a time',
      ),
    })
    expect(other).toMatchObject({
      reason: rejection(
        'not begun within 0.05 seconds: too many slow searches are under way; try again later',
      ),
    })
    // They have left the queue: whoever comes next is served.
    await end('a1')
    await end('b1')
    search(DEE, 'd2')
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'd2'])
  })

  it('is refused at once where too many of its own wait, and nobody else is', async () => {
    places = createSearchPlaces({ places: 2, patience: 60, waiting: 2 })
    searches(ADA, 'a1', 'a2', 'a3')
    await expect(search(ADA, 'a4')).rejects.toMatchObject(
      rejection('more than 2 searches of this participant are waiting; send fewer at a time'),
    )
    search(BO, 'b1')
    expect(begun).toEqual(['a1', 'b1'])
    await end('a1')
    await end('b1')
    await end('a2')
    expect(begun).toEqual(['a1', 'b1', 'a2', 'a3'])
  })
})

describe('work that can be put off', () => {
  beforeEach(() => {
    places = createSearchPlaces({ places: 2, patience: 60, putOff: { after: 0.05, behind: 2 } })
  })
  const outcome = (searched: Promise<string>) =>
    searched.catch((error: unknown) => (error instanceof NoPlace ? 'put off' : error))

  it('waits where searches are quick, however many there are', async () => {
    const all = searches(ADA, 'a1', 'a2', 'a3', 'a4', 'a5', 'a6')
    expect(places.isFull(ADA)).toBe(false)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) await end(name)
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'])
  })

  it('is put off behind so many of its own that wait for slow ones; that of others is not', async () => {
    const all = searches(ADA, 'a1', 'a2', 'a3', 'a4', 'a5').map(outcome)
    expect(await Promise.all(all.slice(3))).toEqual(['put off', 'put off'])
    expect([places.isFull(ADA), places.isFull(BO)]).toEqual([true, false])
    expect(await outcome(search(ADA, 'a6'))).toBe('put off')
    const other = search(BO, 'b1')
    for (const name of ['b1', 'a1', 'a2', 'a3']) await end(name)
    expect(await other).toBe('b1')
    expect(await Promise.all(all.slice(0, 3))).toEqual(['a1', 'a2', 'a3'])
    expect(places.isFull(ADA)).toBe(false)
  })
})
