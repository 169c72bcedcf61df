/** A condition on columns of a source that every matching record fulfils. Engines write it in their SQL. */

import type { Target } from '@rollcall/import/column-mapping'
import type { MappedPart } from './mapped-records.ts'

/** A test of one column. It may let more rows pass than match, never fewer. */
export type ColumnTest =
  | { readonly is: 'present' }
  /** The text of the column is one of these; `trimmed`: it may have spaces around it. */
  | { readonly is: 'texts'; readonly texts: readonly string[]; readonly trimmed?: true }
  | { readonly is: 'beginning'; readonly text: string }
  /** The digits of the text, without its other characters, are one of these. */
  | { readonly is: 'digits'; readonly texts: readonly string[] }
  /** A number between these, both ends included; null: without an end. */
  | { readonly is: 'numbers'; readonly from: number | null; readonly to: number | null }
  | { readonly is: 'booleans'; readonly values: readonly boolean[] }
  /**
   * A day, YYYY-MM-DD, between these, both ends included; null: without an end. `texts` are all texts of these days in a column of
   * texts, which may have spaces around them; null: they are too many.
   */
  | {
      readonly is: 'days'
      readonly from: string | null
      readonly to: string | null
      readonly texts: readonly string[] | null
    }
  /** An instant between these, ISO in UTC, both ends included; null: without an end. */
  | { readonly is: 'instants'; readonly from: string | null; readonly to: string | null }

/** A column, and the part of the mapping that reads it. */
export interface MappedColumn {
  readonly part: MappedPart
  readonly target: Target
}

export type Needed =
  /** Every record may match. */
  | { readonly is: 'anything' }
  /** No record can match. */
  | { readonly is: 'nothing' }
  | { readonly is: 'and' | 'or'; readonly of: readonly Needed[] }
  | { readonly is: 'column'; readonly column: MappedColumn; readonly test: ColumnTest }

export const ANYTHING: Needed = { is: 'anything' }
export const NOTHING: Needed = { is: 'nothing' }
