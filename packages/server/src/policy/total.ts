/** What `total_count` says of how many records match. */
import type { COUNTS, Grant } from '../model/grant.ts'

/** @param page records of the page */
const TOTALS: Readonly<Record<(typeof COUNTS)[number], (total: number, page: number) => number>> = {
  exact: (total) => total,
  rounded: (total) => Math.max(10, Math.ceil(total / 10) * 10),
  none: (_, page) => page,
}

export const totalShown = ({ terms }: Pick<Grant, 'terms'>, total: number, page: number): number =>
  TOTALS[terms.counts ?? 'exact'](total, page)
