/** The types of columns of MariaDB and MySQL, as rows. */

import {
  type ColumnType,
  NUMBER_PATTERN,
  noSqlParameter,
  SPACE_CODE_POINTS,
  wholeNumberParameter,
} from '../engine/column-type.ts'
import type { ResultColumn } from './connections.ts'
import { addZoneOffset, convertUtcToZone } from './zones.ts'

/** Makes the SQL of a value as text, in the character set of our sessions. */
const castToTextSql = (column: string): string => `cast(${column} as char character set utf8mb4)`

/** The bits of `ResultColumn.flags`. */
const FIELD_FLAGS = { unsigned: 32, binary: 128, enumeration: 256, zerofill: 64, set: 2048 } as const
type FieldFlag = keyof typeof FIELD_FLAGS

const hasFieldFlag = ({ flags }: ResultColumn, flag: FieldFlag): boolean => (Number(flags) & FIELD_FLAGS[flag]) !== 0

const LEADING_ZEROS_PATTERN = /^0*(?=\d)/

function integerColumn(bits: number): (field: ResultColumn) => ColumnType {
  return (field) => {
    const isUnsigned = hasFieldFlag(field, 'unsigned')
    const check = isUnsigned
      ? wholeNumberParameter(0n, 2n ** BigInt(bits))
      : wholeNumberParameter(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1))
    return {
      sql: `cast(? as ${isUnsigned ? 'unsigned' : 'signed'})`,
      read: castToTextSql,
      // The text of a zerofill column begins with zeros that are not part of the number.
      parameter: hasFieldFlag(field, 'zerofill') ? (text) => check(text.replace(LEADING_ZEROS_PATTERN, '')) : check,
      holds: 'integer',
      isKey: true,
    }
  }
}

const numberColumn =
  (sql: (field: ResultColumn) => string) =>
  (field: ResultColumn): ColumnType => ({
    sql: sql(field),
    read: castToTextSql,
    parameter: (text) => (NUMBER_PATTERN.test(text) ? text : null),
    holds: 'number',
    isKey: false,
  })

/** Returns an empty text for `0000-00-00`, which many systems write for a missing date. */
const emptyIfZeroDate = (text: string): string => (text.startsWith('0000-00-00') ? '' : text)

const timeColumn =
  (zoned: (zone: string) => (text: string) => string, isLocal: boolean) =>
  (_: ResultColumn, zone: string): ColumnType => {
    const inZone = zoned(zone)
    const toZone = convertUtcToZone(zone)
    return {
      sql: 'cast(? as datetime)',
      read: castToTextSql,
      cell: (text) => inZone(emptyIfZeroDate(text)),
      // For a column without a zone, the instant is written as a time in the zone of the source.
      parameter: (text) => (isLocal ? toZone(text).slice(0, 19) : text),
      holds: 'instant',
      isKey: false,
    }
  }

/** Makes SQL that removes all spaces, also inside a text. So it may find too many rows; their records are compared when read. */
const withoutSpacesSql = (column: string): string =>
  `regexp_replace(${column}, '[${SPACE_CODE_POINTS.map((one) => `\\\\x{${one.toString(16)}}`).join('')}]', '')`

/** The type of a column of texts. @param collation null: the column has bytes */
function textColumn(field: ResultColumn, collation: Collation | null): ColumnType {
  const isEnumOrSet = hasFieldFlag(field, 'enumeration') || hasFieldFlag(field, 'set')
  return {
    sql:
      collation === null ? 'cast(? as binary)' : `cast(? as char character set ${collation.charset}) collate ${collation.name}`,
    read: castToTextSql,
    parameter: (given) => given,
    ...(collation !== null && { trimmed: withoutSpacesSql }),
    holds: 'text',
    // An enumeration cannot be a key, because it is not sorted by its texts.
    isKey: !isEnumOrSet && collation !== null,
  }
}

const CAST_TO_DOUBLE_SQL = 'cast(? as double)'
const dayColumn: ColumnType = {
  sql: 'cast(? as date)',
  read: castToTextSql,
  cell: emptyIfZeroDate,
  parameter: noSqlParameter,
  holds: 'day',
  isKey: false,
}

/** The types by their numbers in the protocol of MariaDB and MySQL. */
const COLUMN_TYPES: ReadonlyMap<number, (field: ResultColumn, zone: string) => ColumnType> = new Map([
  [1, integerColumn(8)],
  [2, integerColumn(16)],
  [9, integerColumn(24)],
  [3, integerColumn(32)],
  [8, integerColumn(64)],
  [13, integerColumn(16)], // year
  [0, numberColumn(castToDecimalSql)],
  [246, numberColumn(castToDecimalSql)],
  [4, numberColumn(() => CAST_TO_DOUBLE_SQL)],
  [5, numberColumn(() => CAST_TO_DOUBLE_SQL)],
  [10, () => dayColumn],
  [14, () => dayColumn],
  [12, timeColumn(addZoneOffset, true)],
  [7, timeColumn(convertUtcToZone, false)],
  [
    16, // bit
    (field) => ({
      ...integerColumn(64)({ ...field, flags: FIELD_FLAGS.unsigned }),
      read: (column) => castToTextSql(`${column} + 0`),
    }),
  ],
])

/** Makes the SQL of a parameter as a decimal with as many digits after the point as the column has. */
function castToDecimalSql({ decimals }: ResultColumn): string {
  return `cast(? as decimal(65, ${Math.min(Number(decimals), 30)}))`
}

/** The numbers of the types of texts and bytes, also of `enum` and `set`. */
const TEXT_TYPES: ReadonlySet<number> = new Set([15, 247, 248, 249, 250, 251, 252, 253, 254])

/** How the texts of a column are encoded and compared. */
export interface Collation {
  readonly charset: string
  readonly name: string
}

/** The type of all other columns, such as a time of day. */
const OTHER_TYPE: ColumnType = { sql: '?', read: castToTextSql, parameter: noSqlParameter, holds: 'other', isKey: false }

/** The type of a column. UUIDs are texts in the protocol. */
export function columnType(field: ResultColumn, collation: Collation | null, zone: string): ColumnType {
  const type = Number(field.columnType)
  if (TEXT_TYPES.has(type)) return textColumn(field, collation)
  return COLUMN_TYPES.get(type)?.(field, zone) ?? OTHER_TYPE
}

/** The kind of values in a column, by the name of its type in the catalog. */
const VALUE_KINDS_BY_TYPE_NAME: readonly (readonly [RegExp, ColumnType['holds']])[] = [
  [/^(?:tiny|small|medium|big)?int|^(?:year|bit)$/, 'integer'],
  [/^(?:decimal|float|double)/, 'number'],
  [/^date$/, 'day'],
  [/^(?:datetime|timestamp)/, 'instant'],
  [/char|text|^(?:enum|set|binary|varbinary)$|blob/, 'text'],
]
export const valueKindOf = (name: string): ColumnType['holds'] =>
  VALUE_KINDS_BY_TYPE_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
