/** A hosted registry, mounted at its namespace. */
import type { Kind } from '@rollcall/protocol'
import type { Environment } from './environment.ts'

/** The members of a `Registry` on which its tables depend. */
export interface RegistryShape {
  readonly id: number
  readonly kind: Kind
}

/** The name of the rows of identifiers among the columns of a record type; nothing of a kind has it. */
export const IDENTIFIERS = 'identifier'

/** In `unfilled` and in the lists of what is to be filled, the column by which records are sorted by an identifier type. */
export const sortGroup = (type: string): string => `sort by ${type}`

/** One hosted instance of a kind. */
export interface Registry {
  readonly id: number
  readonly namespace: string
  /** With the attributes and identifier types that its operator added; the same object as long as they are the same. */
  readonly kind: Kind
  /** Its own `sender_id` in a header, and the `receiver_id` in the messages of others. */
  readonly sender_id: string
  /** Other values of `receiver_id` that mean it. */
  readonly aliases: readonly string[]
  /** Made by `rollcall demo`. */
  readonly demo: boolean
  /** It never changes: synthetic people never come among real ones. */
  readonly environment: Environment
  /** An IANA name; its days are those by which ages are counted. */
  readonly time_zone: string
  /** Years at which a person comes of age. */
  readonly majority_age: number
  /** Origins of web pages that may ask it from a browser (`model/web-origin.ts`). */
  readonly web_origins: readonly string[]
  /** Values of `reg_type` that mean it, beside those of its kind. */
  readonly reg_type_aliases: readonly string[]
  /** Whether its key set names each key a second time, as `sender_id|kid|algorithm`. */
  readonly qualified_kids: boolean
  /**
   * By record type, the attributes and compounds whose columns are being backfilled, and `IDENTIFIERS` for the rows of
   * identifiers, with the names of the identifier types that the operator added: no query may ask about them yet.
   */
  readonly unfilled: ReadonlyMap<string, ReadonlySet<string>>
}
