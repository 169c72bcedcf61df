/** Lists that the server pages: which rows are shown, and whether the page reloads by itself. */
import type { Filter } from './use-filter.ts'

interface PageOfRows<Row> {
  readonly rows: readonly Row[] | undefined
  /** The id before which the next page begins; null: this is the last page. */
  readonly next: string | null
}

/** Cuts an answer to the rows of a page. One row more is requested, to know whether more follow. */
export function pageOfRows<Row>(
  answer: readonly Row[] | undefined,
  size: number,
  idOf: (row: Row) => string | number,
): PageOfRows<Row> {
  const rows = answer?.slice(0, size)
  const last = rows?.at(-1)
  const isMore = answer !== undefined && answer.length > size
  return { rows, next: isMore && last !== undefined ? String(idOf(last)) : null }
}

/** Milliseconds after which a list loads newer rows by itself. */
const LIST_RELOAD_MS = 5_000

/** A value for `refetchInterval`: the newest page of a list reloads, pages of older rows do not. */
export const reloadInterval = ({ values: { before } }: Pick<Filter, 'values'>): number | false =>
  before === undefined && LIST_RELOAD_MS
