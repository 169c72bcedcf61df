/** The type of a column: how its values are read as text, and how it is compared with a text. */

export interface ColumnType {
  /** In MariaDB and MySQL, the SQL of a parameter, such as `cast(? as date)`; in PostgreSQL, the name of its type. */
  readonly sql: string
  /** Makes the SQL that reads a value of the column as text. @param column its quoted name */
  readonly read: (column: string) => string
  /** Converts the text from the database to the form that records have. Absent: the text stays as it is. */
  readonly cell?: (text: string) => string
  /** Makes the parameter for a text; null: no value has this text, or the type is not compared by its text. */
  readonly parameter: (text: string) => string | null
  /**
   * Makes SQL that removes the spaces (`SPACE_CODE_POINTS`) around the text in PostgreSQL, and all spaces of the text in MariaDB
   * and MySQL. Absent: there is no such SQL.
   */
  readonly trimmed?: (column: string) => string
  /**
   * True when the encoding of the database may lack a character of the text: the text then cannot be a parameter. Absent when the
   * encoding has every character, or when `parameter` returns null for such a text.
   */
  readonly mayLack?: (text: string) => boolean
  /** The kind of the values in the column. */
  readonly holds: 'text' | 'integer' | 'number' | 'boolean' | 'day' | 'instant' | 'other'
  /** True when a key of records may have this type. */
  readonly isKey: boolean
}

/** The types of the columns of one table, view or query of a source, by column name. */
export type ColumnTypesByName = ReadonlyMap<string, ColumnType>

/** The types of all columns that are read for a record type, and the type of its key. */
export interface RecordColumnTypes {
  readonly key: ColumnType
  /** The column types of `RecordMapping.own`, then those of each child, in order. */
  readonly parts: readonly ColumnTypesByName[]
}

/** The code points of the characters that count as spaces (`String.trim`). */
export const SPACE_CODE_POINTS: readonly number[] = [
  ...[0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0xa0, 0x1680],
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
]

const WHOLE_NUMBER_PATTERN = /^-?(?:0|[1-9]\d{0,19})$/

/** Makes the `parameter` of a type of whole numbers from `least` to below `end`. */
export const wholeNumberParameter = (least: bigint, end: bigint) => (text: string) => {
  if (!WHOLE_NUMBER_PATTERN.test(text)) return null
  const number = BigInt(text)
  return number >= least && number < end ? text : null
}

/** Matches the texts of numbers, such as -1.5e3, that can be parameters of a statement. */
export const NUMBER_PATTERN = /^-?\d{1,400}(?:\.\d{1,400})?(?:e[+-]?\d{1,3})?$/i
export const UUID_PATTERN = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** The `parameter` of a type whose values are never compared by their text. */
export const noSqlParameter = (): null => null

/**
 * Drops the offset of a time that may be outside of the years 1 to 9999 in UTC, because no record can have such a time. Many
 * systems write 9999-12-31 23:59:59 when a period has no end, and 0001-01-01 00:00:00 when a time is missing.
 */
export const dropOffsetOfExtremeDate = (text: string): string =>
  text.replace(/^(9999-12-31 .*)-[\d:]+$|^(0001-01-01 .*)\+[\d:]+$/, '$1$2')
