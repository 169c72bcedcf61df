/** The ways to compare that a source file may name; `comparisons.ts` has a row for each. */
export const COLUMN_COMPARISON_NAMES = ['exact', 'digits', 'folded', 'date', 'number', 'code'] as const
export type ColumnComparisonName = (typeof COLUMN_COMPARISON_NAMES)[number]
