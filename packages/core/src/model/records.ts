/** Searches of records and their results, for every source of records. */

export interface Identifier {
  /** The canonical name of an identifier type. */
  readonly type: string
  /** The value as its type's normaliser returns it. */
  readonly value: string
}

/** The id of a record in its source: opaque, and compared as it is. No id contains NUL. */
export type RecordId = string

export interface FoundRecord {
  readonly id: RecordId
  /** Canonical JSON text, sent unchanged. */
  readonly document: string
}

export interface Found {
  /** The number of all matching records, not only those of the page; cap + 1 when there are more than the cap. */
  readonly total: number
  /** The records of the page, in order. */
  readonly records: readonly FoundRecord[]
  /** The ids of all matching records in the order of the page, if there are at most `Page.ids`; otherwise empty. */
  readonly ids: readonly RecordId[]
}

/** One key of a sort. */
export interface SortKey {
  /**
   * The canonical name of a sortable attribute (a date sorts by its first day), or of the type of the primary
   * identifier.
   */
  readonly attribute: string
  readonly descending: boolean
  /**
   * For dates: a day, YYYY-MM-DD; a record whose date begins later is sorted as one without a value. The same for all
   * keys.
   */
  readonly until?: string
}

export interface Page {
  /**
   * The most significant key first. Records without a value come last; ties keep the order in which records were added.
   */
  readonly sort: readonly SortKey[]
  /** The size of the page, at least 1. */
  readonly limit: number
  /** The number of records before the page; it may be beyond the last one. */
  readonly offset: number
  /** The search stops counting at this number. */
  readonly cap: number
  /** If at most this many records match, the ids of all of them are returned; undefined: never. */
  readonly ids?: number
  /** Categories of protected persons whose records are found too; undefined: none. */
  readonly categories?: readonly string[]
}
