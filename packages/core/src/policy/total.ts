/** Changes the number of matching records to what an answer may state. */
import { ItemRejection, type RecordType } from '@rollcall/protocol'
import type { Grant, TOTAL_COUNT_FORMS } from '../model/grant.ts'
import type { FoundPage } from '../model/records.ts'

/** The page of an answer whose `total_count` is asked for. */
export interface PageForTotalCount {
  readonly page_size: number
  readonly page_number: number
  /** The number of records in the page. */
  readonly shown: number
  /** The way to the other pages: `never` where the grant shows no records, `sent` where callbacks have them all. */
  readonly others: 'never' | 'on request' | 'sent'
}

interface CountingRules {
  /** Returns the number that the answer states as `total_count`. Applied to its own result, it returns the same. */
  readonly total: (total: number, page: PageForTotalCount) => number
  /**
   * True when an answer leaves out records of which nothing is shown. Otherwise the participant could count these empty records,
   * and so know the number of matches.
   */
  readonly hidesEmpty: boolean
  /**
   * Called when at least `cap` records match. Returns new values for members of `found`; an empty object when all stay as they
   * are. @throws ItemRejection the search is refused
   */
  readonly atCap: (found: FoundPage, cap: number) => ResultAtCap
}

interface ResultAtCap extends Partial<FoundPage> {
  /** Why the answer has no records, in words for the participant. */
  readonly reason?: string
}

/** Refuses a search that more than `cap` records match. With `cap` records, the result stays unchanged. */
const rejectAboveCap = (found: FoundPage, cap: number): ResultAtCap => {
  if (found.total <= cap) return {}
  throw new ItemRejection(
    'rjct.search.too_many_records_found',
    `search_criteria: more than ${cap} records match; narrow the search`,
  )
}

/**
 * Rounds up to a multiple of 10, and 0 to 10. Where callbacks send all pages, the result is at most the number of records that
 * these pages can have.
 */
function roundedTotal(total: number, { page_size, others }: PageForTotalCount): number {
  const rounded = Math.max(10, Math.ceil(total / 10) * 10)
  return others === 'sent' ? Math.min(rounded, Math.max(1, Math.ceil(total / page_size)) * page_size) : rounded
}

/** The number of records up to the end of this page, plus one if another page follows: asking for that page tells the same. */
function totalUpToPage(total: number, { page_size, page_number, shown, others }: PageForTotalCount): number {
  const end = page_number * page_size
  if (others !== 'never' && total > end) return end + 1
  return shown === 0 ? 0 : end - page_size + shown
}

const COUNTING_RULES: Readonly<Record<(typeof TOTAL_COUNT_FORMS)[number], CountingRules>> = {
  exact: { total: (total) => total, hidesEmpty: false, atCap: rejectAboveCap },
  // When the cap is reached, no records are sent: a choice of records would tell something about the others.
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
  rounded: { total: roundedTotal, hidesEmpty: true, atCap: rejectAboveCap },
  none: { total: totalUpToPage, hidesEmpty: true, atCap: rejectAboveCap },
}

/** The rules of a grant for the number of matching records that an answer states. */
export const countingRulesOf = ({ terms }: Pick<Grant, 'terms'>): CountingRules => COUNTING_RULES[terms.counts ?? 'exact']

/**
 * The result of a search. If the search reaches the cap, the grant's counting rules may change the result or refuse the search.
 * @param cap the number of records at which counting stops; `found` counts at most `cap` + 1
 * @throws ItemRejection rjct.search.too_many_records_found
 */
export const applyCap = <Finding extends FoundPage>(
  grant: Pick<Grant, 'terms'>,
  found: Finding,
  cap: number,
): Finding & Pick<ResultAtCap, 'reason'> =>
  found.total < cap ? found : { ...found, ...countingRulesOf(grant).atCap(found, cap) }

/**
 * True when answers under this grant never have a record of this type: the grant shows nothing of it, and its counting rules
 * leave out records of which nothing is shown. Such an answer must have no further pages, because their number would say how many
 * records match.
 */
export function neverShowsRecords(grant: Pick<Grant, 'terms' | 'visible'>, { name }: RecordType): boolean {
  if (!countingRulesOf(grant).hidesEmpty || grant.visible === null) return false
  const tree = grant.visible.get(name)
  return tree === undefined || (!tree.whole && !tree.value && tree.identifiers.length === 0 && tree.members.size === 0)
}
