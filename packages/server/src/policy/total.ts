/** What an answer says of how many records match. */
import type { RecordType } from '@rollcall/protocol'
import type { COUNTS, Grant } from '../model/grant.ts'

/** @param page records of the page */
const TOTALS: Readonly<Record<(typeof COUNTS)[number], (total: number, page: number) => number>> = {
  exact: (total) => total,
  rounded: (total) => Math.max(10, Math.ceil(total / 10) * 10),
  none: (_, page) => page,
}

export const totalShown = ({ terms }: Pick<Grant, 'terms'>, total: number, page: number): number =>
  TOTALS[terms.counts ?? 'exact'](total, page)

/** Whether records of which nothing is shown are left out of an answer: who counts them has the exact count. */
export const hidesEmpty = ({ terms }: Pick<Grant, 'terms'>): boolean => (terms.counts ?? 'exact') !== 'exact'

/** Whether no record of the type is in any answer, so that there are no further pages: their number would say how many match. */
export function showsNothing(grant: Pick<Grant, 'terms' | 'visible'>, { name }: RecordType): boolean {
  if (!hidesEmpty(grant) || grant.visible === null) return false
  const tree = grant.visible.get(name)
  return (
    tree === undefined ||
    (!tree.whole && !tree.value && tree.identifiers.length === 0 && tree.members.size === 0)
  )
}
