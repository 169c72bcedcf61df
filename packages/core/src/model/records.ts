/** The input and result of searches, for every source of records. */

export interface Identifier {
  /** The canonical name of an identifier type. */
  readonly type: string
  /** The normalised value. */
  readonly value: string
}

/** The id of a record in its source. It has no other meaning, and no NUL. */
export type RecordId = string

export interface FoundRecord {
  readonly id: RecordId
  /** Canonical JSON text of the whole record. It is sent unchanged if nothing is cut from it. */
  readonly document: string
}

/** One page of the records that a search found. */
export interface FoundPage {
  /** The number of all matching records; when more than `SearchPageRequest.cap` records match, `cap` + 1. */
  readonly total: number
  /** The records of the page, in order. */
  readonly records: readonly FoundRecord[]
  /** The ids of all matching records in order, if there are at most `SearchPageRequest.ids`; otherwise empty. */
  readonly ids: readonly RecordId[]
  /** True when the source would have to read more rows than a search may read: how many records match is not known. */
  readonly tooManyRows?: true
}

/** One key of a sort. */
export interface SortKey {
  /** The name of a sortable attribute, or the canonical name of an identifier type. A date sorts by its first day. */
  readonly attribute: string
  readonly descending: boolean
  /**
   * For dates: the last day that counts, YYYY-MM-DD. A date that begins later sorts as a missing value. All keys of a
   * sort that have a last day have the same one.
   */
  readonly until?: string
}

export interface SearchPageRequest {
  /**
   * The sort keys, the most important first. Records without a value come last; equal records keep the order of their
   * source: for our own tables, that of insertion.
   */
  readonly sort: readonly SortKey[]
  /** The number of records in a page, at least 1. */
  readonly limit: number
  /** The number of records before the page; it may be larger than the number of all records. */
  readonly offset: number
  /** The largest total that is exact; more records count as `cap` + 1. */
  readonly cap: number
  /** If no more records than this match, the ids of all of them are returned. Undefined: no ids are returned. */
  readonly ids?: number
  /** The categories whose protected persons are found too; undefined for none. */
  readonly categories?: readonly string[]
}
