/** A hosted registry, mounted at its namespace. */
import type { Kind } from '@rollcall/protocol'
import type { Environment } from './environment.ts'

/** The members of a `Registry` on which its tables depend. */
export interface RegistryShape {
  readonly id: number
  readonly kind: Kind
  /** False: its records are not in our own tables, and it has no record tables. Unless given, it has them. */
  readonly own_records?: boolean
}

/** The name for the rows of identifiers in lists of columns. No attribute of a kind has this name. */
export const IDENTIFIERS = 'identifier'

/** The name, in `unfilled` and in lists of columns to fill, of the column for sorting by an identifier type. */
export const sortGroup = (type: string): string => `sort by ${type}`

/** One hosted instance of a kind. */
export interface Registry {
  readonly id: number
  readonly namespace: string
  /**
   * The kind with the attributes and identifier types that its operator added. The object is the same as long as these
   * are.
   */
  readonly kind: Kind
  /** Its `sender_id` in our headers, and the `receiver_id` in messages of others. */
  readonly sender_id: string
  /** Other values of `receiver_id` that name it. */
  readonly aliases: readonly string[]
  /** Made by `rollcall demo`. */
  readonly demo: boolean
  /** It never changes, so synthetic people never come among real ones. */
  readonly environment: Environment
  /** An IANA name. Ages are counted by days in this zone. */
  readonly time_zone: string
  /** Years at which a person comes of age. */
  readonly majority_age: number
  /** Origins of web pages that may call it from a browser (`model/web-origin.ts`). */
  readonly web_origins: readonly string[]
  /** Values of `reg_type` that name it, beside those of its kind. */
  readonly reg_type_aliases: readonly string[]
  /** Whether its key set names each key a second time, as `sender_id|kid|algorithm`. */
  readonly qualified_kids: boolean
  /** Whether its records are in our own tables. Otherwise it has no record tables, and nothing that we do writes its records. */
  readonly own_records: boolean
  /**
   * Whether the registry cannot answer yet, because its records are a copy of a source that has not been read as a
   * whole. Default: false.
   */
  readonly awaits_records?: boolean
  /**
   * The source file for records in a database of the registry's own, as its operator wrote it; null: there is none. If
   * the registry also has own records, these are a copy that follows the source.
   */
  readonly source: object | null
  /**
   * By record type: attributes and compounds whose columns are being backfilled, and `IDENTIFIERS` while the rows of
   * identifiers are, with the identifier types that the operator added. Queries about them are refused.
   */
  readonly unfilled: ReadonlyMap<string, ReadonlySet<string>>
}
