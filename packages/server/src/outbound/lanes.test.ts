import { beforeEach, expect, test } from 'vitest'
import { createLanes, type Lanes, type Place } from './lanes.ts'

let clock: number
let lanes: Lanes

beforeEach(() => {
  clock = 1_000
  lanes = createLanes(() => clock)
})

const settings = { concurrency: 3, rate: 100 }
const A = 1

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
  expect(lanes.tryEnter(2, settings)).not.toBeNull()
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
  const [one, two] = [entered(lanes.enter(A, settings)), entered(lanes.enter(2, settings))]
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
