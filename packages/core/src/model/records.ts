/** Searches of records and their results, for every source of records. */

export interface Identifier {
  /** The canonical name of an identifier type. */
  readonly type: string
  /** As its type's normaliser leaves it. */
  readonly value: string
}

/** The name of a record in its source. */
export type RecordId = number

export interface FoundRecord {
  readonly id: RecordId
  /** Canonical JSON text, to be sent as it is. */
  readonly document: string
}

export interface Found {
  /** Of all matching records, not only this page's; the cap and one when there are more than the cap. */
  readonly total: number
  /** The page, in order. */
  readonly records: readonly FoundRecord[]
  /** Of all matching records, in the page's order, if there are at most `Page.ids`; else empty. */
  readonly ids: readonly RecordId[]
}

/** One key of an order of records. */
export interface SortKey {
  /** The canonical name of a sortable attribute, of which a date sorts by its first day; or of the primary identifier's type. */
  readonly attribute: string
  readonly descending: boolean
  /** Of a date: a day, YYYY-MM-DD; a record whose date begins after it counts as without a value. One for all keys. */
  readonly until?: string
}

export interface Page {
  /** Most significant first; records without a value come last, ties stand in the order they were added. */
  readonly sort: readonly SortKey[]
  /** Records, at least 1. */
  readonly limit: number
  /** Records passed over before the first one; may lie beyond the last. */
  readonly offset: number
  /** The cap of the count: a higher number is not determined. */
  readonly cap: number
  /** The ids of all matching records are given too, if there are at most this many; without it never. */
  readonly ids?: number
  /** Categories of protected persons whose records are found too; without it none. */
  readonly categories?: readonly string[]
}
