/** Sums for the overview, from counts in answers of the admin API. */

/** The group in which messages of each outcome are counted: the good, the rejected or the refused ones. */
const GROUP_BY_OUTCOME = {
  accepted: 'good',
  succeeded: 'good',
  partial: 'good',
  rejected: 'rejected',
  refused: 'refused',
} as const

export type OutcomeGroup = (typeof GROUP_BY_OUTCOME)[keyof typeof GROUP_BY_OUTCOME]

/** The groups in a bar of the chart, from the bottom up. */
export const OUTCOME_GROUPS = ['good', 'rejected', 'refused'] as const satisfies readonly OutcomeGroup[]

interface OutcomeCounts {
  readonly outcomes: Readonly<Record<string, number>>
}

/** Counts the messages of each group, by their outcomes; an unknown outcome is good. */
export function countByGroup(traffic: readonly OutcomeCounts[]): Readonly<Record<OutcomeGroup, number>> {
  const counts = { good: 0, rejected: 0, refused: 0 }
  for (const [outcome, count] of traffic.flatMap(({ outcomes }) => Object.entries(outcomes))) {
    const group: OutcomeGroup = Object.hasOwn(GROUP_BY_OUTCOME, outcome)
      ? GROUP_BY_OUTCOME[outcome as keyof typeof GROUP_BY_OUTCOME]
      : 'good'
    counts[group] += count
  }
  return counts
}

export const sumOutcomes = (outcomes: Readonly<Record<string, number>>): number =>
  Object.values(outcomes).reduce((sum, count) => sum + count, 0)

/** Rounds `most` up to 1, 2 or 5 times a power of ten, and to at least 10: the top of a chart. */
export function roundChartTop(most: number): number {
  if (most <= 10) return 10
  const step = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((times) => times * step).find((top) => top >= most) ?? most
}
