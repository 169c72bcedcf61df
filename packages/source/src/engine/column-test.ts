/**
 * Conditions on columns of a source, made from a query. Engines write them as SQL, so that the database leaves out rows that
 * cannot match. A condition may be weaker than its query: every record that matches the query fulfils it, and others may. So the
 * rows that the database returns are compared with the query again.
 */

import type { MappingTarget } from '@rollcall/import/column-mapping'
import type { MappedTable } from './mapped-records.ts'

/** How texts are compared without case and accents. */
export type FoldedOperator = 'eq' | 'starts_with' | 'contains'

/**
 * A test of one column, made from one comparison of a query. Every row for which the comparison is true passes the test; other
 * rows may pass too.
 */
export type ColumnTest =
  | { readonly is: 'present' }
  /** The text of the column is one of `texts`. With `trimmed`, the text may have spaces around it. */
  | { readonly is: 'texts'; readonly texts: readonly string[]; readonly trimmed?: true }
  | { readonly is: 'beginning'; readonly text: string }
  /** The digits of the column's text, without its other characters, are one of `texts`. */
  | { readonly is: 'digits'; readonly texts: readonly string[] }
  /**
   * The text of the column is, begins with or contains this text, without case and accents. A column's text that the database
   * cannot compare so (`NOT_PLAIN_ASCII_PATTERN`) passes too, so this test alone may let very many rows pass.
   */
  | { readonly is: 'folded'; readonly operator: FoldedOperator; readonly text: string }
  /** The number in the column is between `from` and `to`, both included; null: no bound. */
  | { readonly is: 'numbers'; readonly from: number | null; readonly to: number | null }
  | { readonly is: 'booleans'; readonly values: readonly boolean[] }
  /**
   * The day (YYYY-MM-DD) is between `from` and `to`, both included; null: no bound. `texts`, for a column of texts, has all texts
   * of these days; the column may have spaces around them. It is null when `from` or `to` is null, when there are more than 366
   * days, or when the mapping does not say how days are written.
   */
  | { readonly is: 'days'; readonly from: string | null; readonly to: string | null; readonly texts: readonly string[] | null }
  /** The instant in the column is between `from` and `to` (ISO, in UTC), both included; null: no bound. */
  | { readonly is: 'instants'; readonly from: string | null; readonly to: string | null }

/** A column of a source, and what the mapping says of it. */
export interface MappedColumn {
  readonly part: MappedTable
  readonly target: MappingTarget
}

/** A condition on columns that every record fulfils that matches the query. Other records may fulfil the condition too. */
export type NeededCondition =
  /** Every record may match the query, so no condition is needed. */
  | { readonly is: 'anything' }
  /** No record can match the query. */
  | { readonly is: 'nothing' }
  | { readonly is: 'and' | 'or'; readonly of: readonly NeededCondition[] }
  | { readonly is: 'column'; readonly column: MappedColumn; readonly test: ColumnTest }

export const ANY_RECORD_MAY_MATCH: NeededCondition = { is: 'anything' }
export const NO_RECORD_MATCHES: NeededCondition = { is: 'nothing' }
