/** A hosted registry, with the address of its namespace. */
import type { Kind } from '@rollcall/protocol'
import type { Environment } from './environment.ts'

/** The members of a `Registry` that decide which tables it has, and their columns. */
export interface RegistryShape {
  readonly id: number
  readonly kind: Kind
  /** False when the records are not in our own tables: the registry then has no record tables. */
  readonly own_records?: boolean
}

/** The name that stands for the identifier rows in `Registry.unfilled` and similar lists. No attribute has this name. */
export const IDENTIFIER_ROWS_GROUP_NAME = 'identifier'

/** The name that stands for the sort column of one identifier type, in `Registry.unfilled` and similar lists. */
export const identifierSortGroupName = (type: string): string => `sort by ${type}`

/** One hosted instance of a kind. */
export interface Registry {
  readonly id: number
  readonly namespace: string
  /** The kind, with the attributes and identifier types that an operator added. It is the same object until these change. */
  readonly kind: Kind
  /** The `sender_id` in the headers of its messages, and the `receiver_id` in messages to it. */
  readonly sender_id: string
  /** Other values of `receiver_id` that mean this registry. */
  readonly aliases: readonly string[]
  /** True when `rollcall demo` made the registry. */
  readonly demo: boolean
  /** The environment. It never changes, so that synthetic people never mix with real ones. */
  readonly environment: Environment
  /** The time zone (an IANA name) in which days begin, for example for ages. */
  readonly time_zone: string
  /** The age in years from which a person is an adult. */
  readonly majority_age: number
  /** Origins of web pages that may call the registry from a browser (`model/web-origin.ts`). */
  readonly web_origins: readonly string[]
  /** Values of `reg_type` that mean this registry, besides those of its kind. */
  readonly reg_type_aliases: readonly string[]
  /** True when the published key set lists each signature key twice: under its kid, and under `sender_id|kid|algorithm`. */
  readonly qualified_kids: boolean
  /** True when the records are in our own tables. Otherwise there are no record tables, and we write no records. */
  readonly own_records: boolean
  /** True while the copy of the source's records is not complete: the registry cannot answer yet. Default: false. */
  readonly awaits_records?: boolean
  /**
   * The source file for records in another database, as the operator wrote it; null when there is none. With a source,
   * `own_records` is true when our tables have a copy of its records.
   */
  readonly source: object | null
  /**
   * For each record type, the names that queries must not use yet, because their columns are being backfilled: attributes,
   * compounds and sort columns (`identifierSortGroupName`). While the identifier rows are backfilled: also
   * `IDENTIFIER_ROWS_GROUP_NAME` and the added identifier types.
   */
  readonly unfilled: ReadonlyMap<string, ReadonlySet<string>>
}
