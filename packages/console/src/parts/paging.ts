/** Lists that the server pages: the shown rows, and whether the page reloads itself. */
import type { Filter } from './use-filter.ts'

interface Shown<Row> {
  readonly rows: readonly Row[] | undefined
  /** The id that the next page begins before; null: this is the last page. */
  readonly next: string | null
}

/** The rows to show of a list whose answer does not say whether more follow: one row more than shown is requested. */
export function firstRows<Row>(
  answer: readonly Row[] | undefined,
  size: number,
  idOf: (row: Row) => string | number,
): Shown<Row> {
  const rows = answer?.slice(0, size)
  const last = rows?.at(-1)
  const isMore = answer !== undefined && answer.length > size
  return { rows, next: isMore && last !== undefined ? String(idOf(last)) : null }
}

/** Milliseconds after which a list looks for newer rows by itself. */
const LIVE_MS = 5_000

/** For `refetchInterval`: the newest rows of a list reload, a page of older ones does not. */
export const live = ({ values: { before } }: Pick<Filter, 'values'>): number | false => before === undefined && LIVE_MS
