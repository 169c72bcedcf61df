/** Makes the SQL conditions of PostgreSQL for tests of columns. */

import type { ColumnTest } from '../engine/column-test.ts'
import type { ColumnType } from '../engine/column-type.ts'
import {
  joinComparisonsSql,
  makeConditionWriter,
  mayBePlainAscii,
  NO_ROW_CONDITION,
  NOT_PLAIN_ASCII_PATTERN,
  NUMBER_BOUND_MARGIN,
  numbersTestSql,
} from '../engine/conditions.ts'
import { Parameters } from '../engine/parameters.ts'
import { isUnknownColumnType } from './column-types.ts'
import { POSTGRESQL_NAME_WRITER } from './names.ts'

/** Makes an empty list of parameters, which are written with position and type, such as `$1::text`. */
export const createParameters = (): Parameters => new Parameters((position, type) => `$${position}::${type}`)

/** A number and a `real` that differ by at most this share count as equal, because a `real` has seven digits. */
const REAL_MARGIN = 1e-6

/**
 * Returns the SQL condition that an expression has one of these values. One value is compared with `=`, because PostgreSQL can
 * then use the plan of a prepared statement again. With `any` it often makes a new plan.
 */
export function oneOfSql(expression: string, values: readonly unknown[], type: string, parameters: Parameters): string {
  const [value] = values
  return values.length === 1
    ? `${expression} = ${parameters.add(value, type)}`
    : `${expression} = any(${parameters.add(values, `${type}[]`)})`
}

function writeColumnTest(test: ColumnTest, column: string, type: ColumnType, parameters: Parameters): string | null {
  switch (test.is) {
    case 'present':
      return `${column} is not null`
    case 'texts': {
      const texts = test.texts.flatMap((text) => type.parameter(text) ?? [])
      if (type.holds === 'boolean') return writeBooleanTextsTest(column, test.texts)
      if (type.holds === 'day' || type.holds === 'instant') return null
      if (texts.length === 0) return NO_ROW_CONDITION
      const asked = comparedColumnSql(test, column, type)
      if (texts.some((text) => type.mayLack?.(text))) {
        return oneOfSql(utf8BytesSql(asked), texts.map(hexText), 'bytea', parameters)
      }
      return oneOfSql(asked, texts, isUnknownColumnType(type) || asked !== column ? 'text' : type.sql, parameters)
    }
    case 'beginning':
      if (type.holds !== 'text') return null
      if (type.parameter(test.text) === null) return NO_ROW_CONDITION
      if (type.mayLack?.(test.text)) {
        const length = Buffer.byteLength(test.text)
        return `substring(${utf8BytesSql(column)} from 1 for ${length}) = ${parameters.add(hexText(test.text), 'bytea')}`
      }
      return `starts_with(${column}::text collate "C", ${parameters.add(test.text, 'text')})`
    case 'folded':
      return type.holds === 'text' ? writeFoldedTest(test, `${column}::text collate "C"`, parameters) : null
    case 'digits':
      return type.holds === 'text'
        ? oneOfSql(digitsOfTextSql(column), test.texts, 'text', parameters)
        : writeColumnTest({ is: 'texts', texts: test.texts }, column, type, parameters)
    case 'numbers':
      return writeNumbersTest(test, column, type, parameters)
    case 'booleans':
      return type.holds === 'boolean' ? oneOfSql(column, test.values, 'bool', parameters) : null
    case 'days':
      return writeDaysTest(test, column, type, parameters)
    case 'instants':
      return writeInstantsTest(test, column, type, parameters)
  }
}

function writeFoldedTest(
  { operator, text }: Extract<ColumnTest, { is: 'folded' }>,
  column: string,
  parameters: Parameters,
): string {
  const unplain = `${column} ~ '${NOT_PLAIN_ASCII_PATTERN}'`
  if (!mayBePlainAscii(text)) return unplain
  const small = `lower(${column})`
  const given = parameters.add(text, 'text')
  const same = {
    eq: `${small} = ${given}`,
    starts_with: `starts_with(${small}, ${given})`,
    contains: `strpos(${small}, ${given}) > 0`,
  }
  return `(${unplain} or ${same[operator]})`
}

/** The SQL expression that a test compares. An index for the test must be on the same expression. */
export function comparedColumnSql(test: ColumnTest, column: string, type: ColumnType): string {
  if (isUnknownColumnType(type)) return `${column}::text`
  if (type.holds !== 'text') return column
  if (test.is === 'digits') return digitsOfTextSql(column)
  const isTrimmed = test.is === 'days' || (test.is === 'texts' && test.trimmed)
  return isTrimmed ? (type.trimmed?.(column) ?? column) : column
}

/**
 * Makes the SQL of a text as bytes of UTF-8, to compare it with bytes. A text parameter with a character that the encoding of the
 * database lacks would be refused.
 */
const utf8BytesSql = (column: string): string => `convert_to(${column}::text, 'UTF8')`
const hexText = (text: string): string => `\\x${Buffer.from(text).toString('hex')}`

/**
 * Makes the SQL of the digits of a text. An index on the same SQL makes the search fast. Regular expressions do not work with a
 * collation that takes different texts as equal, so "C" is used.
 */
export const digitsOfTextSql = (column: string): string => `regexp_replace(${column} collate "C", '[^0-9]', '', 'g')`

function writeBooleanTextsTest(column: string, texts: readonly string[]): string {
  const values = ['true', 'false'].filter((text) => texts.includes(text))
  return values.length === 0 ? NO_ROW_CONDITION : `${column} in (${values.join(', ')})`
}

function writeNumbersTest(
  test: Extract<ColumnTest, { is: 'numbers' }>,
  column: string,
  { sql, holds }: ColumnType,
  parameters: Parameters,
): string | null {
  const type = holds === 'integer' ? 'int8' : sql === 'numeric' ? 'numeric' : 'float8'
  const margin = sql === 'float4' ? REAL_MARGIN : NUMBER_BOUND_MARGIN
  return numbersTestSql(test, column, holds, margin, (bound) => parameters.add(bound, type))
}

function writeDaysTest(
  { from, to, texts }: Extract<ColumnTest, { is: 'days' }>,
  column: string,
  type: ColumnType,
  parameters: Parameters,
): string | null {
  const { holds } = type
  if (holds === 'text')
    return texts === null ? null : writeColumnTest({ is: 'texts', texts, trimmed: true }, column, type, parameters)
  if (holds !== 'day' && holds !== 'instant') return null
  // With `=` PostgreSQL plans for the few rows of one day; with a period it would plan for many.
  if (holds === 'day' && from !== null && from === to) return `${column} = ${parameters.add(from, 'date')}`
  // The zone of the session decides to which day a time belongs.
  return joinComparisonsSql(column, [
    ...(from === null ? [] : [`>= ${parameters.add(from, 'date')}`]),
    ...(to === null ? [] : [holds === 'day' ? `<= ${parameters.add(to, 'date')}` : `< ${writeEndOfDay(to, parameters)}`]),
  ])
}

/** The SQL of the end of a day. 9999-12-31 has no end (infinity), because later times may be read as times of that day. */
const writeEndOfDay = (day: string, parameters: Parameters): string =>
  day === '9999-12-31' ? `'infinity'` : `${parameters.add(day, 'date')} + 1`

/** Returns the SQL condition for a test of instants, a day wider on each side. When a record is read, it is compared exactly. */
function writeInstantsTest(
  { from, to }: Extract<ColumnTest, { is: 'instants' }>,
  column: string,
  { holds }: ColumnType,
  parameters: Parameters,
): string | null {
  if (holds !== 'day' && holds !== 'instant') return null
  return joinComparisonsSql(column, [
    ...(from === null ? [] : [`>= ${parameters.add(from, 'timestamptz')} - interval '1 day'`]),
    ...(to === null ? [] : [`<= ${parameters.add(to, 'timestamptz')} + interval '1 day'`]),
  ])
}

export const { conditionOf, columnCondition } = makeConditionWriter(POSTGRESQL_NAME_WRITER, writeColumnTest)
