import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PORTION, placeOf, portionsOf } from './portions.ts'

it.each([0, 1, 9_999, 10_000])('a batch of %d items is one portion, whose steps are its pages', (items) => {
  expect(portionsOf(items)).toBe(1)
  for (const step of [1, 2, 17]) {
    expect(placeOf(step, items)).toEqual({ portion: 0, page: step, from: 0, to: PORTION })
  }
})

it('every item has each of its pages in one step, in order', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 5 }), (items, pages) => {
      const portions = portionsOf(items)
      const steps = Array.from({ length: portions * pages }, (_, at) => placeOf(at + 1, items))
      expect(steps.map(({ page }) => page)).toEqual(steps.map(({ page }) => page).toSorted((a, b) => a - b))
      const first = steps.slice(0, portions)
      expect(first.map(({ from }) => from)).toEqual(first.map((_, at) => at * PORTION))
      expect(first.every(({ page }) => page === 1)).toBe(true)
      expect(first.at(-1)?.to).toBeGreaterThanOrEqual(items)
      expect(new Set(steps.map(({ portion, page }) => `${portion} ${page}`)).size).toBe(steps.length)
    }),
  )
})
