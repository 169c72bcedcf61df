/** What an answer says of how many records match. */
import { ItemRejection, type RecordType } from '@rollcall/protocol'
import type { COUNTS, Grant } from '../model/grant.ts'
import type { Found } from '../model/records.ts'

interface Counting {
  /** @param page records of the page */
  readonly total: (total: number, page: number) => number
  /** Whether records of which nothing is shown are left out of an answer: who counts them has the exact count. */
  readonly hidesEmpty: boolean
  /** What is answered of a search that reaches the cap. @throws ItemRejection */
  readonly atCap: (found: Found, cap: number) => AtCap
}

interface AtCap extends Partial<Found> {
  /** Why there are no records. */
  readonly reason?: string
}

const unlessMore = (found: Found, cap: number): AtCap => {
  if (found.total <= cap) return {}
  throw new ItemRejection(
    'rjct.search.too_many_records_found',
    `search_criteria: more than ${cap} records match; narrow the search`,
  )
}

const COUNTINGS: Readonly<Record<(typeof COUNTS)[number], Counting>> = {
  exact: { total: (total) => total, hidesEmpty: false, atCap: unlessMore },
  // Without records: which ones of so many are found first says what lies beyond.
  capped: {
    total: (total) => total,
    hidesEmpty: false,
    atCap: (_, cap) => ({
      total: cap,
      records: [],
      ids: [],
      reason: `search_criteria: ${cap} records or more match; narrow the search to get them`,
    }),
  },
  rounded: { total: (total) => Math.max(10, Math.ceil(total / 10) * 10), hidesEmpty: true, atCap: unlessMore },
  none: { total: (_, page) => page, hidesEmpty: true, atCap: unlessMore },
}

const countingOf = ({ terms }: Pick<Grant, 'terms'>): Counting => COUNTINGS[terms.counts ?? 'exact']

export const totalShown = (grant: Pick<Grant, 'terms'>, total: number, page: number): number =>
  countingOf(grant).total(total, page)

/**
 * What is answered of what a search found.
 * @param cap records that a search may match; `found` counts one more at most
 * @throws ItemRejection rjct.search.too_many_records_found
 */
export const withinCap = <Finding extends Found>(
  grant: Pick<Grant, 'terms'>,
  found: Finding,
  cap: number,
): Finding & Pick<AtCap, 'reason'> => (found.total < cap ? found : { ...found, ...countingOf(grant).atCap(found, cap) })

/** Whether records of which nothing is shown are left out of an answer. */
export const hidesEmpty = (grant: Pick<Grant, 'terms'>): boolean => countingOf(grant).hidesEmpty

/** Whether no record of the type is in any answer, so that there are no further pages: their number would say how many match. */
export function showsNothing(grant: Pick<Grant, 'terms' | 'visible'>, { name }: RecordType): boolean {
  if (!hidesEmpty(grant) || grant.visible === null) return false
  const tree = grant.visible.get(name)
  return tree === undefined || (!tree.whole && !tree.value && tree.identifiers.length === 0 && tree.members.size === 0)
}
