/** The type of a column: how its values are read as text, and how a text is compared with them. */

export interface ColumnType {
  /** The type of parameters, in the words of the engine. */
  readonly sql: string
  /** SQL of the value as a text. @param column the quoted name */
  readonly read: (column: string) => string
  /** Changes the text that was read into the form that records have; absent: it stays as it is. */
  readonly cell?: (text: string) => string
  /** The parameter for a text; null: the type has no value with this text. */
  readonly parameter: (text: string) => string | null
  /** For texts: an expression that removes at least the spaces around the text of the column. */
  readonly trimmed?: (column: string) => string
  /**
   * Whether the encoding of the database may lack a character of the text; then it cannot be a parameter. Absent: it
   * has all.
   */
  readonly mayLack?: (text: string) => boolean
  readonly holds: 'text' | 'integer' | 'number' | 'boolean' | 'day' | 'instant' | 'other'
  /** Whether a key may have this type. */
  readonly isKey: boolean
}

/** The types of the columns of a part, by name. */
export type PartTypes = ReadonlyMap<string, ColumnType>

/** The types of the parts of records, and of the key. */
export interface KnownTypes {
  readonly key: ColumnType
  /** The column types of the own table, then those of each child, in order. */
  readonly parts: readonly PartTypes[]
}

/** The characters that are spaces for us (`String.trim`), by their code points. */
export const SPACES: readonly number[] = [
  ...[0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0xa0, 0x1680],
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
]

const WHOLE = /^-?(?:0|[1-9]\d{0,19})$/

/** The parameters of a column of whole numbers from `least` to below `end`. */
export const whole = (least: bigint, end: bigint) => (text: string) => {
  if (!WHOLE.test(text)) return null
  const number = BigInt(text)
  return number >= least && number < end ? text : null
}

/** The form of numbers that a database understands. */
export const NUMBER = /^-?\d{1,400}(?:\.\d{1,400})?(?:e[+-]?\d{1,3})?$/i
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** A type whose values are never compared by their text. */
export const unasked = (): null => null
