import { beforeEach, expect, test } from 'vitest'
import { createLanes, type Lanes, type Place } from './lanes.ts'

let clock: number
let lanes: Lanes

beforeEach(() => {
  clock = 1_000
  lanes = createLanes(() => clock)
})

const settings = { concurrency: 3, rate: 100 }
const A = { participant: 1, origin: 'https://a.example' }
const OTHER = { participant: 2, origin: 'https://a.example' }

function entered(place: Place | number | null): Place {
  if (place === null || typeof place === 'number') throw new Error('no place')
  return place
}

const known = (): void => entered(lanes.tryEnter(A, settings)).leave('healthy')

test('nobody knows yet how a participant is: one attempt at a time', () => {
  const first = entered(lanes.tryEnter(A, settings))
  expect(lanes.tryEnter(A, settings)).toBeNull()
  first.leave('healthy')
  const [second] = [lanes.tryEnter(A, settings), lanes.tryEnter(A, settings)].map(entered)
  expect(second).toBeDefined()
})

test('as many as its settings allow, and others are not concerned', () => {
  known()
  const places = [1, 2, 3].map(() => entered(lanes.tryEnter(A, settings)))
  expect(lanes.tryEnter(A, settings)).toBeNull()
  expect(lanes.enter(A, settings)).toBeNull()
  expect(lanes.tryEnter(OTHER, settings)).not.toBeNull()
  places[0]?.leave('healthy')
  places[0]?.leave('healthy')
  entered(lanes.tryEnter(A, settings))
  expect(lanes.tryEnter(A, settings)).toBeNull()
})

test('one that fails, or is slow, is left to its job, for a minute or until it is well', () => {
  known()
  const [failing, slow] = [lanes.tryEnter(A, settings), lanes.tryEnter(A, settings)].map(entered)
  failing?.leave('failing')
  expect(lanes.tryEnter(A, settings)).toBeNull()
  entered(lanes.enter(A, settings)).leave('healthy')
  entered(lanes.tryEnter(A, settings)).leave('healthy')
  slow?.slow()
  expect(lanes.tryEnter(A, settings)).toBeNull()
  slow?.leave('healthy')
  expect(lanes.tryEnter(A, settings)).toBeNull()
  clock += 60_000
  const again = entered(lanes.tryEnter(A, settings))
  expect(lanes.tryEnter(A, settings)).toBeNull()
  again.leave('healthy')
  entered(lanes.tryEnter(A, settings))
})

test('a rate holds over time, with a burst of one second; what was not used is given back', () => {
  const slow = { concurrency: 100, rate: 4 }
  const places = Array.from({ length: 4 }, () => entered(lanes.enter(A, slow)))
  expect(lanes.enter(A, slow)).toBe(250)
  expect(lanes.tryEnter(A, slow)).toBeNull()
  places[0]?.leave('unused')
  entered(lanes.enter(A, slow))
  clock += 125
  expect(lanes.enter(A, slow)).toBe(125)
  clock += 10_000
  for (let at = 0; at < 4; at += 1) entered(lanes.enter(A, slow))
  expect(lanes.enter(A, slow)).toBe(250)
})

test('it is idle when every place is left', async () => {
  await lanes.idle()
  const [one, two] = [entered(lanes.enter(A, settings)), entered(lanes.enter(OTHER, settings))]
  let idle = false
  const waiting = lanes.idle().then(() => {
    idle = true
  })
  one.leave('healthy')
  await Promise.resolve()
  expect(idle).toBe(false)
  two.leave('unused')
  await waiting
  expect(idle).toBe(true)
})

const at = (origin: string) => ({ participant: 1, origin })
const entries = (origin: string, concurrency: number): Place[] => {
  const places: Place[] = []
  for (;;) {
    const place = lanes.enter(at(origin), { concurrency, rate: 1_000 })
    if (place === null || typeof place === 'number') return places
    places.push(place)
  }
}

test('one that is not known to be well takes half, all of them leave a quarter, and all have no more than there is', () => {
  entries('well', 8).forEach((place) => {
    place.leave('healthy')
  })
  expect(entries('hanging', 8)).toHaveLength(4)
  expect(entries('slow', 8)).toHaveLength(2)
  expect(entries('third', 8)).toHaveLength(0)
  const well = entries('well', 8)
  expect(well).toHaveLength(2)
  well[0]?.slow()
  well[1]?.leave('unused')
  expect(entries('well', 8)).toHaveLength(0)
})

test('with one place, whoever asks has it', () => {
  const [place] = entries('a', 1)
  expect(place).toBeDefined()
  expect(entries('b', 1)).toHaveLength(0)
  place?.leave('failing')
  expect(entries('a', 1)).toHaveLength(1)
})

test('destinations are apart: one that fails says nothing of another', () => {
  entered(lanes.tryEnter(at('a'), settings)).leave('failing')
  expect(lanes.tryEnter(at('a'), settings)).toBeNull()
  entered(lanes.tryEnter(at('b'), settings)).leave('healthy')
})

test('of thousands of destinations the last hundred are remembered, and whichever is inside', () => {
  const first = entered(lanes.enter(at('first'), settings))
  const fast = { concurrency: 3, rate: 10_000 }
  for (let port = 0; port < 3_000; port += 1) {
    clock += 1
    entered(lanes.enter(at(`${port}`), fast)).leave('failing')
  }
  // Of those who make answers one has a place at an address of which nothing is known any more.
  expect(lanes.tryEnter(at('2999'), fast)).toBeNull()
  expect(lanes.tryEnter(at('2901'), fast)).toBeNull()
  entered(lanes.tryEnter(at('1'), fast)).leave('unused')
  first.leave('failing')
  expect(lanes.tryEnter(at('first'), fast)).toBeNull()
})
