/** Lists whose answer does not say whether there is more: one row more than is shown is asked for. */

interface Shown<Row> {
  readonly rows: readonly Row[] | undefined
  /** The id that the next page begins before; null: this is the last page. */
  readonly next: string | null
}

/** The rows to show, of an answer with at most one row more. */
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
