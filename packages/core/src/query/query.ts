/** The input and the result of the readers of the query forms. */

import type { JsonValue, Kind, RecordType } from '@rollcall/protocol'
import type { Limits } from '../limits.ts'
import type { Visible } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'

/** The context of a query. */
export interface Scope {
  readonly kind: Kind
  /** The record type of the criteria around the query; undefined when they name none. */
  readonly recordType: RecordType | undefined
  readonly limits: QueryLimits
  /** Whether a `collection` may name another record type than the criteria; then that type is used. */
  readonly anyCollection?: true
  /** The part that may be selected, by record type; null or absent: whole records. */
  readonly visible?: (() => ReadonlyMap<string, Visible> | null) | undefined
}

/** Bounds of one query: levels of nesting, conditions, values compared with. */
export type QueryLimits = Pick<Limits, 'query_depth' | 'query_terms' | 'query_values'>

/** A query that was understood to the last member. */
export interface Query {
  readonly predicate: Predicate
  readonly recordType: RecordType
  /**
   * The selection of the query: returns the selected members of a record, or null when none is selected. Absent when
   * records are returned as stored.
   * @param day YYYY-MM-DD, the day on which the record was found
   */
  readonly shape?: (record: JsonValue, day: string) => JsonValue | null
}

/** An error in a query. Readers of all forms throw it; the caller (a search, a filter) adds its code. */
export class QueryProblem extends Error {
  override readonly name = 'QueryProblem'
  /** The path of the member within the query, such as `query[0].expression1.operator`; '' for the query as a whole. */
  readonly path: string
  /** The rule that says what is accepted. It never has a value of the query, which may be about a person. */
  readonly rule: string

  constructor(path: string, rule: string) {
    super(`${path}: ${rule}`)
    this.path = path
    this.rule = rule
  }
}

/** A text that cannot be parsed as its form; a search has a code of its own for it (N20). */
export class UnreadableQuery extends QueryProblem {}

/**
 * An identifier of an unknown type, or with a value that its type does not allow; a subscription has a code of its own
 * for it.
 */
export class IdentifierProblem extends QueryProblem {}
