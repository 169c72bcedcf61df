/** The input and the result of the readers of all query forms. */

import type { JsonValue, Kind, RecordType } from '@rollcall/protocol'
import type { Limits } from '../limits.ts'
import type { VisibleTreeNode } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'

/** The kind, record type, limits and visible members with which a query is read. */
export interface QueryScope {
  readonly kind: Kind
  /** The record type that the criteria around the query name; undefined when they name none. */
  readonly recordType: RecordType | undefined
  readonly limits: QueryLimits
  /**
   * True when the member `collection` of the query may name another record type than the criteria. The `collection` is then
   * ignored, and the type of the criteria is used.
   */
  readonly anyCollection?: true
  /** Returns the part of records that may be selected, by record type; null or absent for everything. */
  readonly visible?: (() => ReadonlyMap<string, VisibleTreeNode> | null) | undefined
}

/** The limits of one query: levels of nesting, conditions, and values in lists. */
export type QueryLimits = Pick<Limits, 'query_depth' | 'query_terms' | 'query_values'>

/** A query that was read completely. */
export interface Query {
  readonly predicate: Predicate
  readonly recordType: RecordType
  /**
   * Applies the selection of the query: returns the selected members of `record`, the part of a record that the grant shows; null
   * when this part is not an object. Absent when the query has no selection.
   * @param day YYYY-MM-DD, the present day in the registry's time zone, for conditions on ages
   */
  readonly shape?: (record: JsonValue, day: string) => JsonValue | null
}

/** An error in a query, thrown by the readers of all forms. The caller adds the rejection code (`rjct.`) of its operation. */
export class QueryProblem extends Error {
  override readonly name = 'QueryProblem'
  /** The path of the member in the query, such as `query[0].expression1.operator`; '' for the whole query. */
  readonly path: string
  /** The rule that says what is accepted. It never quotes a value of the query, which may be about a person. */
  readonly rule: string

  constructor(path: string, rule: string) {
    super(`${path}: ${rule}`)
    this.path = path
    this.rule = rule
  }
}

/** A query text that cannot be read, or has too many values. A search has a code of its own for it (N20). */
export class QueryTextProblem extends QueryProblem {}

/** An identifier of an unknown type, or a value that its type does not allow. A subscription has a code of its own for it. */
export class IdentifierProblem extends QueryProblem {}
