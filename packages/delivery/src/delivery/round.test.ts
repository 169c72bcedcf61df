import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WaitingDestination } from '../store/deliveries/destinations.ts'
import { createDestinationPollTracker } from './round.ts'

const LIMIT = 4
const at = (origin: string): WaitingDestination => ({ origin, wait: 0, open: false })
const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(at)
/** Lists destinations in order: those from `from` on, then those before it. */
const lookFrom = (from: string, among = all) =>
  [...among.filter(({ origin }) => origin >= from), ...among.filter(({ origin }) => origin < from)].slice(0, LIMIT)

test('with one place at a time, each destination is served once before any is served again', () => {
  const round = createDestinationPollTracker(LIMIT)
  const served: string[] = []
  while (served.length < 30) {
    const seen = lookFrom(round.from())
    const [first] = seen
    if (first !== undefined) served.push(first.origin)
    expect(round.looked(seen, seen, first)).toBe('on')
    // No place for some looks: whose turn it is stays as it is.
    for (let look = 0; look < 9; look += 1) {
      const again = lookFrom(round.from())
      if (round.looked(again, again, undefined) === 'busy') break
    }
  }
  const names = all.map(({ origin }) => origin)
  expect(served).toEqual([...names, ...names, ...names])
})

test('a round is over when all were looked at since the last one had a place, and idle when nothing was due', () => {
  fc.assert(
    fc.property(fc.subarray(all), fc.option(fc.constantFrom(...all), { nil: undefined }), (due, served) => {
      const round = createDestinationPollTracker(LIMIT)
      if (served !== undefined) round.looked(lookFrom(served.origin), [served], lookFrom(served.origin)[0])
      const looked = new Set<string>()
      for (let look = 0; look < 10; look += 1) {
        const seen = lookFrom(round.from())
        for (const { origin } of seen) looked.add(origin)
        const over = round.looked(
          seen,
          seen.filter((one) => due.includes(one)),
          undefined,
        )
        if (over === 'on') continue
        expect(looked.size).toBe(all.length)
        expect(over).toBe(due.length === 0 ? 'idle' : 'busy')
        return
      }
      throw new Error('the round has no end')
    }),
  )
})

test('where there is nothing the round is over at once', () => {
  const round = createDestinationPollTracker(LIMIT)
  expect(round.looked([], [], undefined)).toBe('idle')
  const [only] = all
  expect(round.looked([at('z')], [], undefined)).toBe('idle')
  expect(only === undefined ? '' : round.looked([only], [only], only)).toBe('on')
  expect(round.from()).toBe('')
})
