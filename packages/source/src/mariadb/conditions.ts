/** Makes the SQL conditions of MariaDB and MySQL for tests of columns. */

import type { ColumnTest } from '../engine/column-test.ts'
import { type ColumnType, SPACE_CODE_POINTS } from '../engine/column-type.ts'
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
import { MARIADB_NAME_WRITER } from './names.ts'

/** Makes an empty list of parameters. The "type" that is given with each parameter is its SQL, such as `cast(? as date)`. */
export const createParameters = (): Parameters => new Parameters((_, type) => type)

/** A number and a `float` that differ by at most this share count as equal, because a `float` has six digits. */
const FLOAT_MARGIN = 1e-5

/** Returns the SQL condition that a column has one of the given texts. */
export const oneOfSql = (
  column: string,
  texts: readonly string[],
  { sql }: Pick<ColumnType, 'sql'>,
  parameters: Parameters,
): string => `${column} in (${texts.map((text) => parameters.add(text, sql)).join(', ')})`

/**
 * Returns the SQL condition for a test; null: all rows pass. The collation of the column may take different texts as equal. That
 * is accepted, so that an index can be used: rows are compared again when they are read.
 */
function writeColumnTest(test: ColumnTest, column: string, type: ColumnType, parameters: Parameters): string | null {
  switch (test.is) {
    case 'present':
      return `${column} is not null`
    case 'texts': {
      if (type.holds === 'day' || type.holds === 'instant') return null
      if (type.sql === DOUBLE_PARAMETER_SQL) return writeNumberColumnTextsTest(test.texts, column, type, parameters)
      const texts = test.texts.flatMap((text) => type.parameter(text) ?? [])
      if (texts.length === 0) return type.holds === 'other' && !type.isKey ? null : NO_ROW_CONDITION
      // Spaces cannot be removed from a column of bytes.
      if (test.trimmed && type.trimmed === undefined && type.holds === 'text') return null
      const is = oneOfSql(column, texts, type, parameters)
      if (!test.trimmed || type.trimmed === undefined) return is
      const bare = texts.map((text) => text.replaceAll(/\s/g, ''))
      return `(${is} or ${oneOfSql(type.trimmed(column), bare, type, parameters)})`
    }
    case 'beginning':
      if (type.holds !== 'text') return null
      return writeBeginsWith(column, test.text, type, parameters)
    case 'folded':
      // Only columns of texts are compared without case and accents; no other type has `trimmed`.
      return type.trimmed === undefined ? null : writeFoldedTest(test, column, parameters)
    case 'digits':
      return type.holds === 'text'
        ? oneOfSql(digitsOfTextSql(column), test.texts, type, parameters)
        : writeColumnTest({ is: 'texts', texts: test.texts }, column, type, parameters)
    case 'numbers':
      return writeNumbersTest(test, column, type, parameters)
    case 'booleans':
      // MariaDB has no booleans, but the numbers 0 and 1.
      return type.holds === 'integer'
        ? oneOfSql(
            column,
            test.values.map((value) => (value ? '1' : '0')),
            type,
            parameters,
          )
        : null
    case 'days':
      return writeDaysTest(test, column, type, parameters)
    case 'instants':
      return writeDaysTest(
        { is: 'days', from: test.from?.slice(0, 10) ?? null, to: test.to?.slice(0, 10) ?? null, texts: null },
        column,
        type,
        parameters,
        // `around`: rows up to two days before and after pass too, because a time without a zone may be of any zone.
        2,
      )
  }
}

function writeFoldedTest(
  { operator, text }: Extract<ColumnTest, { is: 'folded' }>,
  column: string,
  parameters: Parameters,
): string {
  const bytes = `convert(${column} using utf8mb4) collate utf8mb4_bin`
  const unplain = `${bytes} regexp '${NOT_PLAIN_ASCII_PATTERN}'`
  if (!mayBePlainAscii(text)) return unplain
  const small = `lower(${bytes})`
  const given = parameters.add(text, 'cast(? as char character set utf8mb4) collate utf8mb4_bin')
  const same = {
    eq: `${small} = ${given}`,
    starts_with: `left(${small}, ${text.length}) = ${given}`,
    contains: `locate(${given}, ${small}) > 0`,
  }
  return `(${unplain} or ${same[operator]})`
}

const writeBeginsWith = (column: string, text: string, { sql }: ColumnType, parameters: Parameters): string =>
  `${column} like ${parameters.add(`${text.replace(/[|%_]/g, '|$&')}%`, sql)} escape '|'`

const DOUBLE_PARAMETER_SQL = 'cast(? as double)'

/** Makes the SQL of the digits of a text. */
const digitsOfTextSql = (column: string): string => `regexp_replace(${column}, '[^0-9]', '')`

function writeNumberColumnTextsTest(texts: readonly string[], column: string, type: ColumnType, parameters: Parameters): string {
  const near = texts.flatMap((text) => {
    const number = type.parameter(text) === null ? Number.NaN : Number(text)
    if (!Number.isFinite(number)) return []
    return writeNumbersTest({ is: 'numbers', from: number, to: number }, column, type, parameters) ?? []
  })
  return near.length === 0 ? NO_ROW_CONDITION : `(${near.join(' or ')})`
}

function writeNumbersTest(
  test: Extract<ColumnTest, { is: 'numbers' }>,
  column: string,
  { sql, holds }: ColumnType,
  parameters: Parameters,
): string | null {
  const type = holds === 'integer' ? 'cast(? as signed)' : DOUBLE_PARAMETER_SQL
  const margin = sql === DOUBLE_PARAMETER_SQL ? FLOAT_MARGIN : NUMBER_BOUND_MARGIN
  return numbersTestSql(test, column, holds, margin, (bound) => parameters.add(bound, type))
}

/** Returns the SQL condition for a test of days. @param around the number of days before and after that pass too */
function writeDaysTest(
  { from, to, texts }: Extract<ColumnTest, { is: 'days' }>,
  column: string,
  type: ColumnType,
  parameters: Parameters,
  around = type.holds === 'instant' ? 1 : 0,
): string | null {
  if (type.holds === 'text') {
    return texts === null ? null : writeDaysTestOfTextColumn(texts, column, type, parameters)
  }
  if (type.holds !== 'day' && type.holds !== 'instant') return null
  const first = dayAfter(from, -around)
  // A column of times is compared with the beginning of the next day.
  const last = dayAfter(to, type.holds === 'day' ? around : around + 1)
  return joinComparisonsSql(column, [
    ...(first === null ? [] : [`>= ${parameters.add(first, 'cast(? as date)')}`]),
    ...(last === null ? [] : [`<= ${parameters.add(last, 'cast(? as date)')}`]),
  ])
}

/** The most parameters of a statement that tests days in texts: the database plans each, and the driver holds each. */
const MOST_DAY_TEST_PARAMETERS = 2_000

/**
 * Returns the SQL condition that a column of texts has one of these texts, perhaps with spaces around it. The condition tests
 * only how a text begins, so that an index can be used. Every text that begins with a space passes.
 * @returns null: there are too many texts for one statement, so all rows pass
 */
function writeDaysTestOfTextColumn(
  texts: readonly string[],
  column: string,
  type: ColumnType,
  parameters: Parameters,
): string | null {
  if (texts.length === 0) return NO_ROW_CONDITION
  const beginnings = [...texts, ...SPACE_CODE_POINTS.map((one) => String.fromCharCode(one))]
  if (parameters.values.length + beginnings.length > MOST_DAY_TEST_PARAMETERS) return null
  return `(${beginnings.map((text) => writeBeginsWith(column, text, type, parameters)).join(' or ')})`
}

/** The day that is `count` days later; null: there is no bound, or the database has no such day. */
function dayAfter(day: string | null, count: number): string | null {
  if (day === null || !/^\d{4}-\d\d-\d\d$/.test(day)) return null
  const moved = new Date(Date.parse(`${day}T00:00:00Z`) + count * 86_400_000)
  const text = Number.isNaN(moved.getTime()) ? '' : moved.toISOString().slice(0, 10)
  return /^\d{4}-/.test(text) && !text.startsWith('0000') ? text : null
}

export const { conditionOf, columnCondition } = makeConditionWriter(MARIADB_NAME_WRITER, writeColumnTest)
