import { expect, it } from 'vitest'
import { countByGroup, roundChartTop, sumOutcomes } from './figures.ts'

it('adds messages by how they ended', () => {
  const traffic: Parameters<typeof countByGroup>[0] = [
    { outcomes: { succeeded: 5, partial: 1, rejected: 2 } },
    { outcomes: { accepted: 3, refused: 4, other: 1 } },
  ]
  expect(countByGroup(traffic)).toEqual({ good: 10, rejected: 2, refused: 4 })
  expect(countByGroup([])).toEqual({ good: 0, rejected: 0, refused: 0 })
  expect(sumOutcomes({ succeeded: 5, rejected: 2 })).toBe(7)
})

it.each([
  [0, 10],
  [11, 20],
  [20, 20],
  [340, 500],
  [9_999, 10_000],
])('a chart of at most %i ends at %i', (most, top) => {
  expect(roundChartTop(most)).toBe(top)
})
