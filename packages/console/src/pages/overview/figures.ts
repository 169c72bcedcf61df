/** Sums for the overview, from counts of the admin API. */

/** The share in which messages of each outcome are counted: the good, the rejected or the refused ones. */
const KINDS = {
  accepted: 'good',
  succeeded: 'good',
  partial: 'good',
  rejected: 'rejected',
  refused: 'refused',
} as const

export type Share = (typeof KINDS)[keyof typeof KINDS]

/** The shares of a bar in the chart, from the bottom up. */
export const SHARES = ['good', 'rejected', 'refused'] as const satisfies readonly Share[]

interface Counted {
  readonly outcomes: Readonly<Record<string, number>>
}

/** Counts the messages of each share, by their outcomes; an unknown outcome is good. */
export function countShares(traffic: readonly Counted[]): Readonly<Record<Share, number>> {
  const shares = { good: 0, rejected: 0, refused: 0 }
  for (const [outcome, count] of traffic.flatMap(({ outcomes }) => Object.entries(outcomes))) {
    const share: Share = Object.hasOwn(KINDS, outcome) ? KINDS[outcome as keyof typeof KINDS] : 'good'
    shares[share] += count
  }
  return shares
}

export const sumOutcomes = (outcomes: Readonly<Record<string, number>>): number =>
  Object.values(outcomes).reduce((sum, count) => sum + count, 0)

/** Returns the next round number, such as 20 or 500, that is at least `most` and 10, for the top of a chart. */
export function roundTop(most: number): number {
  if (most <= 10) return 10
  const step = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((times) => times * step).find((top) => top >= most) ?? most
}
