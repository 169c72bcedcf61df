/** Makes queries, as members of search_criteria, and the parts of expression lists (spec "Query forms"). */
import type { Comparison, ExpressionListElement, SearchCriteria } from '@rollcall/protocol'

/** The members of search_criteria that make a query. */
export type QueryCriteria = Pick<SearchCriteria, 'query_type' | 'query'>

/** A query by an identifier: `identifier('UIN', '8128560370')`. Give the value as text: leading zeros count. */
export function identifier(type: string, value: string): QueryCriteria {
  return { query_type: 'idtype-value', query: { type, value } }
}

/** A value to compare with an attribute. Where a condition is only a value, the attribute must equal the value. */
export type ExpressionValue = string | number | boolean

/** A condition on one attribute: a value that it must equal, or an operator with its value. */
export type Condition =
  | ExpressionValue
  | { readonly $eq: ExpressionValue }
  | { readonly $ne: ExpressionValue }
  | { readonly $gt: ExpressionValue }
  | { readonly $gte: ExpressionValue }
  | { readonly $lt: ExpressionValue }
  | { readonly $lte: ExpressionValue }
  | { readonly $in: readonly ExpressionValue[] }
  | { readonly $nin: readonly ExpressionValue[] }
  | { readonly $exists: boolean }
  | { readonly $startsWith: string }
  | { readonly $contains: string }

/** Conditions on attributes, which must all hold. `$and`, `$or` and `$not` combine them. */
export type Conditions =
  | { readonly [attribute: string]: Condition }
  | { readonly $and: readonly Conditions[] }
  | { readonly $or: readonly Conditions[] }
  | { readonly $not: Conditions }

/**
 * A query by conditions: `expression({ birth_date: { $gte: '2000-01-01' }, sex: 'female' })`. `collection` is the record type.
 */
export function expression(query: Conditions, options: { readonly collection?: string } = {}): QueryCriteria {
  const value = { expression: { ...options, query } }
  return { query_type: 'expression', query: { type: 'ns:org:QueryType:expression', value } }
}

/** One comparison for an expression list: `compare('age', 'lt', 30)`. */
export function compare(
  attribute_name: string,
  operator: Comparison['operator'],
  value: ExpressionValue | readonly ExpressionValue[],
): Comparison {
  // The value is sent as text: a number fits two alternatives of the published schema, so a strict registry refuses it.
  const attribute_value = Array.isArray(value) ? value.map(String) : String(value)
  return { attribute_name, operator, attribute_value }
}

/** An element of an expression list: at least one of two comparisons must hold. */
export const either = (first: Comparison, second: Comparison): ExpressionListElement => joinComparisons(first, 'or', second)

/** An element of an expression list: both comparisons must hold. In a list of enrolments, one enrolment must satisfy both. */
export const both = (first: Comparison, second: Comparison): ExpressionListElement => joinComparisons(first, 'and', second)

/** An element of an expression list: the first comparison must hold, and the second one must not. */
export const butNot = (first: Comparison, second: Comparison): ExpressionListElement => joinComparisons(first, 'not', second)

function joinComparisons(
  expression1: Comparison,
  condition: 'and' | 'or' | 'not',
  expression2: Comparison,
): ExpressionListElement {
  return { expression1, condition, expression2 }
}

/** A query by an expression list (`query_type` predicate): every element must hold. */
export function expressionList(...elements: readonly (Comparison | ExpressionListElement)[]): QueryCriteria {
  const query = elements.map((element, index) => ({
    seq_num: index + 1,
    ...('expression1' in element ? element : { expression1: element }),
  }))
  return { query_type: 'predicate', query }
}

/** A query by a GraphQL text: `graphql('query { person(UIN: "8128560370") { birth_date } }')`. */
export function graphql(text: string): QueryCriteria {
  const value = { expression: text }
  return { query_type: 'graphql', query: { type: 'ns:org:QueryType:graphql', value } }
}
