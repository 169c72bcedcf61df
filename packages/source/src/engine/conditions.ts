/**
 * Makes SQL conditions from tests of columns. A SQL condition may be weaker than its test, but never stronger: every row that
 * passes the test fulfils it. A test that cannot be written in SQL gets no condition.
 */

import type { ColumnTest, NeededCondition } from './column-test.ts'
import type { ColumnType, ColumnTypesByName } from './column-type.ts'
import type { RecordMapping } from './mapped-records.ts'
import type { SqlNameWriter } from './names.ts'
import type { Parameters } from './parameters.ts'

export const NO_ROW_CONDITION = 'false'

/** Returns the SQL condition for a test of a column. @param column quoted, with its alias @returns null: all rows pass */
export type ColumnTestSqlWriter = (test: ColumnTest, column: string, type: ColumnType, parameters: Parameters) => string | null

/** Makes the SQL of conditions on the rows of a source, as an engine needs it. */
export interface ConditionWriter {
  /**
   * Returns the SQL of a condition that every record that matches the query fulfils (`NeededCondition`); null: no row is
   * excluded.
   * @param types the column types of the own table, then those of each child, in order
   */
  conditionOf(
    records: RecordMapping,
    types: readonly ColumnTypesByName[],
    needed: NeededCondition,
    parameters: Parameters,
  ): string | null
  /**
   * Returns the SQL of the test in `needed`, for the rows of the table with the tested column; null: all rows pass.
   * @param alias the alias that the table has in the SQL
   */
  columnCondition(
    records: RecordMapping,
    types: readonly ColumnTypesByName[],
    needed: Extract<NeededCondition, { is: 'column' }>,
    alias: string,
    parameters: Parameters,
  ): string | null
}

/** Makes the `ConditionWriter` of an engine. @param testOf makes the SQL condition for a test of one column */
export function makeConditionWriter({ quoted, tableOf }: SqlNameWriter, testOf: ColumnTestSqlWriter): ConditionWriter {
  const columnCondition: ConditionWriter['columnCondition'] = (
    records,
    types,
    { column: { part, target }, test },
    alias,
    parameters,
  ) => {
    const name = target.column?.trim() ?? ''
    const type = types[[records.own, ...records.children].indexOf(part)]?.get(name)
    return type === undefined ? null : testOf(test, `${alias}.${quoted(name)}`, type, parameters)
  }
  const conditionOf: ConditionWriter['conditionOf'] = (records, types, needed, parameters) => {
    switch (needed.is) {
      case 'anything':
        return null
      case 'nothing':
        return NO_ROW_CONDITION
      case 'and': {
        const parts = needed.of.flatMap((part) => conditionOf(records, types, part, parameters) ?? [])
        return parts.length === 0 ? null : `(${parts.join(' and ')})`
      }
      case 'or': {
        const before = parameters.values.length
        const parts: string[] = []
        // If one part of an `or` excludes no row, the `or` excludes none. Then the parameters of the parts before are removed. To
        // check all parts first would double the work at each level, and a participant may nest twenty levels.
        for (const part of needed.of) {
          const condition = conditionOf(records, types, part, parameters)
          if (condition === null) {
            parameters.values.length = before
            return null
          }
          parts.push(condition)
        }
        return `(${parts.join(' or ')})`
      }
      case 'column': {
        const { part } = needed.column
        const isOwn = part === records.own
        const condition = columnCondition(records, types, needed, isOwn ? 'own' : 'child', parameters)
        if (isOwn || condition === null || condition === NO_ROW_CONDITION) return condition
        const rows = `select child.${quoted(part.key)} from ${tableOf(part, 'child')} where ${condition}`
        return `own.${quoted(records.own.key)} in (${rows})`
      }
    }
  }
  return { conditionOf, columnCondition }
}

/** Joins comparisons of a column with `and`; null: there are none. @param conditions such as `>= $1`, without the column */
export const joinComparisonsSql = (column: string, conditions: readonly string[]): string | null =>
  conditions.length === 0 ? null : `(${conditions.map((one) => `${column} ${one}`).join(' and ')})`

/**
 * Returns the SQL condition that a column of numbers is within the bounds of a test; null: the column has no numbers, or the test
 * has no bounds, or only ones that are too large to compare.
 * @param margin the part of a bound by which it is moved outwards, such as `NUMBER_BOUND_MARGIN`; not used for whole numbers
 * @param add returns the SQL of a new parameter
 */
export function numbersTestSql(
  test: Extract<ColumnTest, { is: 'numbers' }>,
  column: string,
  holds: ColumnType['holds'],
  margin: number,
  add: (bound: string) => string,
): string | null {
  if (holds !== 'integer' && holds !== 'number') return null
  const { least, most } = holds === 'integer' ? wholeNumberBounds(test) : widenNumberBounds(test, margin)
  return joinComparisonsSql(column, [
    ...(least === null ? [] : [`>= ${add(String(least))}`]),
    ...(most === null ? [] : [`<= ${add(String(most))}`]),
  ])
}

/**
 * Matches the texts whose folded form (without case and accents) a database cannot compute. All other texts are plain: ASCII
 * without control characters and backticks, with single spaces between words. Folding only makes capitals of a plain text small.
 */
export const NOT_PLAIN_ASCII_PATTERN = '[^ !-_a-~]|^ | $|  '

/** True when a folded text may be the folded form of a plain text (`NOT_PLAIN_ASCII_PATTERN`), or a part of one. */
export const mayBePlainAscii = (folded: string): boolean => /^[ -_a-~]*$/.test(folded)

/**
 * The margin by which the bounds of a number are widened, as a share of the bound. Numbers of the database may have more digits
 * than a double: all those that we read as the same double must pass.
 */
export const NUMBER_BOUND_MARGIN = 1e-15
/** The largest bound for whole numbers. A larger bound is left out, because a double is not exact there. */
const LARGEST_EXACT_BOUND = Number.MAX_SAFE_INTEGER

/** The bounds of a test, each moved outwards by a share of itself, such as `NUMBER_BOUND_MARGIN`; null: no bound. */
export function widenNumberBounds(
  { from, to }: Extract<ColumnTest, { is: 'numbers' }>,
  around: number,
): { readonly least: number | null; readonly most: number | null } {
  return {
    least: from === null ? null : finiteOrNull(from - Math.abs(from) * around),
    most: to === null ? null : finiteOrNull(to + Math.abs(to) * around),
  }
}

/** Returns the bound; null: it became infinite, so it excludes nothing. */
const finiteOrNull = (bound: number): number | null => (Number.isFinite(bound) ? bound : null)

/** The bounds for a column of whole numbers; null: no bound, or one that is too large to be exact. */
function wholeNumberBounds(test: Extract<ColumnTest, { is: 'numbers' }>): {
  readonly least: string | null
  readonly most: string | null
} {
  const { least, most } = widenNumberBounds(test, NUMBER_BOUND_MARGIN)
  return {
    least: least === null || Math.abs(least) > LARGEST_EXACT_BOUND ? null : String(Math.ceil(least)),
    most: most === null || Math.abs(most) > LARGEST_EXACT_BOUND ? null : String(Math.floor(most)),
  }
}
