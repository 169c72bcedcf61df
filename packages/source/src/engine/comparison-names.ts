/** The ways to compare that a source file may name; `comparisons.ts` has a row for each. */
export const COMPARISON_NAMES = ['exact', 'digits', 'folded', 'date', 'number', 'code'] as const
export type ComparisonName = (typeof COMPARISON_NAMES)[number]
