import { beforeEach, expect, test } from 'vitest'
import { createLimiter, type Limiter, type Permit } from './limiter.ts'

let clock: number
let limiter: Limiter

beforeEach(() => {
  clock = 1_000
  limiter = createLimiter(() => clock)
})

const settings = { concurrency: 3, rate: 100 }
const A = { participant: 1, origin: 'https://a.example' }
const OTHER = { participant: 2, origin: 'https://a.example' }

function entered(permit: Permit | number | null): Permit {
  if (permit === null || typeof permit === 'number') throw new Error('no permit')
  return permit
}

const known = (): void => entered(limiter.acquireForMaker(A, settings)).release('healthy')

test('nobody knows yet how a participant is: one attempt at a time', () => {
  const first = entered(limiter.acquireForMaker(A, settings))
  expect(limiter.acquireForMaker(A, settings)).toBeNull()
  first.release('healthy')
  const [second] = [limiter.acquireForMaker(A, settings), limiter.acquireForMaker(A, settings)].map(entered)
  expect(second).toBeDefined()
})

test('as many as its settings allow, and others are not concerned', () => {
  known()
  const permits = [1, 2, 3].map(() => entered(limiter.acquireForMaker(A, settings)))
  expect(limiter.acquireForMaker(A, settings)).toBeNull()
  expect(limiter.acquireForDispatcher(A, settings)).toBeNull()
  expect(limiter.acquireForMaker(OTHER, settings)).not.toBeNull()
  permits[0]?.release('healthy')
  permits[0]?.release('healthy')
  entered(limiter.acquireForMaker(A, settings))
  expect(limiter.acquireForMaker(A, settings)).toBeNull()
})

test('one that fails, or is slow, is left to the dispatcher, for a minute or until it is well', () => {
  known()
  const [failing, slow] = [limiter.acquireForMaker(A, settings), limiter.acquireForMaker(A, settings)].map(entered)
  failing?.release('failing')
  expect(limiter.acquireForMaker(A, settings)).toBeNull()
  entered(limiter.acquireForDispatcher(A, settings)).release('healthy')
  entered(limiter.acquireForMaker(A, settings)).release('healthy')
  slow?.slow()
  expect(limiter.acquireForMaker(A, settings)).toBeNull()
  slow?.release('healthy')
  expect(limiter.acquireForMaker(A, settings)).toBeNull()
  clock += 60_000
  const again = entered(limiter.acquireForMaker(A, settings))
  expect(limiter.acquireForMaker(A, settings)).toBeNull()
  again.release('healthy')
  entered(limiter.acquireForMaker(A, settings))
})

test('a rate holds over time, with a burst of one second; what was not used is given back', () => {
  const slow = { concurrency: 100, rate: 4 }
  const permits = Array.from({ length: 4 }, () => entered(limiter.acquireForDispatcher(A, slow)))
  expect(limiter.acquireForDispatcher(A, slow)).toBe(250)
  expect(limiter.acquireForMaker(A, slow)).toBeNull()
  permits[0]?.release('unused')
  entered(limiter.acquireForDispatcher(A, slow))
  clock += 125
  expect(limiter.acquireForDispatcher(A, slow)).toBe(125)
  clock += 10_000
  for (let at = 0; at < 4; at += 1) entered(limiter.acquireForDispatcher(A, slow))
  expect(limiter.acquireForDispatcher(A, slow)).toBe(250)
})

test('it is idle when every permit is released', async () => {
  await limiter.idle()
  const [one, two] = [entered(limiter.acquireForDispatcher(A, settings)), entered(limiter.acquireForDispatcher(OTHER, settings))]
  let idle = false
  const waiting = limiter.idle().then(() => {
    idle = true
  })
  one.release('healthy')
  await Promise.resolve()
  expect(idle).toBe(false)
  two.release('unused')
  await waiting
  expect(idle).toBe(true)
})

const at = (origin: string) => ({ participant: 1, origin })
const entries = (origin: string, concurrency: number): Permit[] => {
  const permits: Permit[] = []
  for (;;) {
    const permit = limiter.acquireForDispatcher(at(origin), { concurrency, rate: 1_000 })
    if (permit === null || typeof permit === 'number') return permits
    permits.push(permit)
  }
}

test('one that is not known to be well takes half, all of them leave a quarter, and all have no more than there is', () => {
  entries('well', 8).forEach((permit) => {
    permit.release('healthy')
  })
  expect(entries('hanging', 8)).toHaveLength(4)
  expect(entries('slow', 8)).toHaveLength(2)
  expect(entries('third', 8)).toHaveLength(0)
  const well = entries('well', 8)
  expect(well).toHaveLength(2)
  well[0]?.slow()
  well[1]?.release('unused')
  expect(entries('well', 8)).toHaveLength(0)
})

test('with one permit, whoever asks has it', () => {
  const [permit] = entries('a', 1)
  expect(permit).toBeDefined()
  expect(entries('b', 1)).toHaveLength(0)
  permit?.release('failing')
  expect(entries('a', 1)).toHaveLength(1)
})

test('destinations are apart: one that fails says nothing of another', () => {
  entered(limiter.acquireForMaker(at('a'), settings)).release('failing')
  expect(limiter.acquireForMaker(at('a'), settings)).toBeNull()
  entered(limiter.acquireForMaker(at('b'), settings)).release('healthy')
})

test('of thousands of destinations the last hundred are remembered, and whichever is in use', () => {
  const first = entered(limiter.acquireForDispatcher(at('first'), settings))
  const fast = { concurrency: 3, rate: 10_000 }
  for (let port = 0; port < 3_000; port += 1) {
    clock += 1
    entered(limiter.acquireForDispatcher(at(`${port}`), fast)).release('failing')
  }
  // One of several answer senders has a permit at an address of which nothing is known any more.
  expect(limiter.acquireForMaker(at('2999'), fast)).toBeNull()
  expect(limiter.acquireForMaker(at('2901'), fast)).toBeNull()
  entered(limiter.acquireForMaker(at('1'), fast)).release('unused')
  first.release('failing')
  expect(limiter.acquireForMaker(at('first'), fast)).toBeNull()
})
