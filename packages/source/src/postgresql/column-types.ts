/** The types of columns of PostgreSQL, as rows. */

import {
  type ColumnType,
  dropOffsetOfExtremeDate,
  NUMBER_PATTERN,
  noSqlParameter,
  SPACE_CODE_POINTS,
  UUID_PATTERN,
  wholeNumberParameter,
} from '../engine/column-type.ts'

const castToTextSql = (column: string): string => `${column}::text`
/** Makes the SQL of a day or a time as text; an infinite one becomes null. */
const castFiniteToTextSql = (column: string): string => `nullif(nullif(${column}::text, 'infinity'), '-infinity')`

const nullIfHasZeroByte = (text: string): string | null => (text.includes('\0') ? null : text)

/**
 * Makes the text of a time one that records can have. PostgreSQL writes an offset with seconds, such as -00:44:30, for a time
 * before its zone had a standard time: the seconds are cut. Ahead of UTC, a time on 10000-01-01 may still be in 9999 in UTC: it
 * becomes the last second of 9999.
 */
const readInstantCell = (text: string): string =>
  dropOffsetOfExtremeDate(text.replace(/^10000-01-01 .*\+.*/, '9999-12-31 23:59:59').replace(/(?<=[+-]\d\d:\d\d):\d\d$/, ''))

/**
 * Returns a function that makes the SQL of a column without spaces around its text.
 * @param canHold true for a character that the encoding of the database has. PostgreSQL refuses others in a statement
 */
export const makeTrimSqlWriter = (canHold: (text: string) => boolean): ((column: string) => string) => {
  const spaces = SPACE_CODE_POINTS.filter((one) => canHold(String.fromCharCode(one)))
  const literal = `E'${spaces.map((one) => `\\u${one.toString(16).padStart(4, '0')}`).join('')}'`
  return (column) => `btrim(${column}::text, ${literal})`
}

const textColumn = (sql: string, isKey = true): ColumnType => ({
  sql,
  read: castToTextSql,
  parameter: nullIfHasZeroByte,
  trimmed: makeTrimSqlWriter(() => true),
  holds: 'text',
  isKey,
})

const integerColumn = (sql: string, bits: number): ColumnType => ({
  sql,
  read: castToTextSql,
  parameter: wholeNumberParameter(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1)),
  holds: 'integer',
  isKey: true,
})
/**
 * The type of a column of numbers.
 * @param nearest computes the number that the column stores for a given number; null: the column stores every number as it is
 */
const numberColumn = (sql: string, nearest: ((given: number) => number) | null): ColumnType => ({
  sql,
  read: castToTextSql,
  parameter: (given) => (NUMBER_PATTERN.test(given) && (nearest === null || isWithinType(given, nearest)) ? given : null),
  holds: 'number',
  isKey: false,
})

/** True when the type can hold the number. PostgreSQL refuses a number that would become infinite or zero. */
function isWithinType(given: string, nearest: (given: number) => number): boolean {
  const near = nearest(Number(given))
  return Number.isFinite(near) && (near !== 0 || /^-?[0.]+(?:e|$)/i.test(given))
}

const instantColumn = (sql: string, read: ColumnType['read']): ColumnType => ({
  sql,
  read,
  cell: readInstantCell,
  parameter: noSqlParameter,
  holds: 'instant',
  isKey: false,
})

/** The types by their numbers in the catalog. */
const COLUMN_TYPES: ReadonlyMap<number, ColumnType> = new Map<number, ColumnType>([
  [25, textColumn('text')],
  [1043, textColumn('text')],
  [19, textColumn('text')],
  [1042, textColumn('bpchar', false)],
  [21, integerColumn('int2', 16)],
  [23, integerColumn('int4', 32)],
  [20, integerColumn('int8', 64)],
  [1700, numberColumn('numeric', null)],
  [700, numberColumn('float4', Math.fround)],
  [701, numberColumn('float8', (given) => given)],
  [16, { sql: 'bool', read: castToTextSql, parameter: noSqlParameter, holds: 'boolean', isKey: false }],
  [1082, { sql: 'date', read: castFiniteToTextSql, parameter: noSqlParameter, holds: 'day', isKey: false }],
  // A time without a zone is read in the zone of the session, which is set to the zone of the source.
  [1114, instantColumn('timestamp', (one) => castFiniteToTextSql(`${one}::timestamptz`))],
  [1184, instantColumn('timestamptz', castFiniteToTextSql)],
  [
    2950,
    { sql: 'uuid', read: castToTextSql, parameter: (one) => (UUID_PATTERN.test(one) ? one : null), holds: 'other', isKey: true },
  ],
])

/** The type of all other columns, such as enumerations, which are compared by their text. */
const OTHER_TYPE: ColumnType = { sql: 'text', read: castToTextSql, parameter: nullIfHasZeroByte, holds: 'other', isKey: false }

export const columnType = (oid: number): ColumnType => COLUMN_TYPES.get(oid) ?? OTHER_TYPE
/** True for the type that a column gets when its own type is not in `COLUMN_TYPES`: it is compared as a text. */
export const isUnknownColumnType = ({ read, holds, isKey }: ColumnType): boolean =>
  read === OTHER_TYPE.read && holds === OTHER_TYPE.holds && !isKey
