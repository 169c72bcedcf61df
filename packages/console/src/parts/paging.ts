/** Lists that the server pages: which rows are shown, and whether the page looks for newer ones by itself. */
import type { Filter } from './use-filter.ts'

interface Shown<Row> {
  readonly rows: readonly Row[] | undefined
  /** The id that the next page begins before; null: this is the last page. */
  readonly next: string | null
}

/**
 * The rows to show, of a list whose answer does not say whether there is more: one row more than is shown is asked for.
 */
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

/** For `refetchInterval`: the newest rows of a list are live, a page of older ones stands still. */
export const live = ({ values: { before } }: Pick<Filter, 'values'>): number | false => before === undefined && LIVE_MS
