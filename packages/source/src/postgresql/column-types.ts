/** The types of columns of PostgreSQL, as rows. */

import {
  type ColumnType,
  NUMBER_PATTERN,
  noParameter,
  SPACE_CODE_POINTS,
  UUID_PATTERN,
  wholeNumbers,
} from '../engine/column-type.ts'

const asText = (column: string): string => `${column}::text`
/** Makes the SQL of a day or a time as text; an infinite one becomes null. */
const finite = (column: string): string => `nullif(nullif(${column}::text, 'infinity'), '-infinity')`

const storableOrNull = (text: string): string | null => (text.includes('\0') ? null : text)

/**
 * Makes a function that makes SQL to remove spaces around a text.
 * @param canHold whether the encoding of the database has a character: a statement may have no other
 */
export const trimmedOf = (canHold: (text: string) => boolean): ((column: string) => string) => {
  const spaces = SPACE_CODE_POINTS.filter((one) => canHold(String.fromCharCode(one)))
  const literal = `E'${spaces.map((one) => `\\u${one.toString(16).padStart(4, '0')}`).join('')}'`
  return (column) => `btrim(${column}::text, ${literal})`
}

const text = (sql: string, isKey = true): ColumnType => ({
  sql,
  read: asText,
  parameter: storableOrNull,
  trimmed: trimmedOf(() => true),
  holds: 'text',
  isKey,
})

const integer = (sql: string, bits: number): ColumnType => ({
  sql,
  read: asText,
  parameter: wholeNumbers(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1)),
  holds: 'integer',
  isKey: true,
})
/**
 * The type of a column of numbers.
 * @param nearest the number that the column stores in place of another; null: it stores every number
 */
const number = (sql: string, nearest: ((given: number) => number) | null): ColumnType => ({
  sql,
  read: asText,
  parameter: (given) => (NUMBER_PATTERN.test(given) && (nearest === null || isWithin(given, nearest)) ? given : null),
  holds: 'number',
  isKey: false,
})

/** True when the type can hold the number. PostgreSQL refuses a number that would become infinite or zero. */
function isWithin(given: string, nearest: (given: number) => number): boolean {
  const near = nearest(Number(given))
  return Number.isFinite(near) && (near !== 0 || /^-?[0.]+(?:e|$)/i.test(given))
}

/** The types by their numbers in the catalog. */
const TYPES: ReadonlyMap<number, ColumnType> = new Map<number, ColumnType>([
  [25, text('text')],
  [1043, text('text')],
  [19, text('text')],
  [1042, text('bpchar', false)],
  [21, integer('int2', 16)],
  [23, integer('int4', 32)],
  [20, integer('int8', 64)],
  [1700, number('numeric', null)],
  [700, number('float4', Math.fround)],
  [701, number('float8', (given) => given)],
  [16, { sql: 'bool', read: asText, parameter: noParameter, holds: 'boolean', isKey: false }],
  [1082, { sql: 'date', read: finite, parameter: noParameter, holds: 'day', isKey: false }],
  // A time without a zone is read in the zone of the session, which is set to the zone of the source.
  [
    1114,
    {
      sql: 'timestamp',
      read: (one) => finite(`${one}::timestamptz`),
      parameter: noParameter,
      holds: 'instant',
      isKey: false,
    },
  ],
  [1184, { sql: 'timestamptz', read: finite, parameter: noParameter, holds: 'instant', isKey: false }],
  [
    2950,
    {
      sql: 'uuid',
      read: asText,
      parameter: (one) => (UUID_PATTERN.test(one) ? one : null),
      holds: 'other',
      isKey: true,
    },
  ],
])

/** The type of all other columns, such as enumerations, which are compared by their text. */
const OTHER: ColumnType = { sql: 'text', read: asText, parameter: storableOrNull, holds: 'other', isKey: false }

export const columnType = (oid: number): ColumnType => TYPES.get(oid) ?? OTHER
/** True when a type has no row in the table, so that it is compared by its text. */
export const isOther = ({ read, holds, isKey }: ColumnType): boolean =>
  read === OTHER.read && holds === OTHER.holds && !isKey
