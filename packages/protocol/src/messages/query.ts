/** The schemas of a query in its forms, of comparisons, and of a sort. Spec "SearchRequest". */
import Type, { type Static } from 'typebox'
import { oneOf } from '../common.ts'

/** The forms of a query (spec "SearchRequest"); also the values of `filter_type` of a subscription (N3). */
export const QUERY_TYPES = ['idtype-value', 'expression', 'predicate', 'graphql'] as const
export const QueryType = oneOf(QUERY_TYPES, { description: 'Which form the query takes (G6).' })
export type QueryType = Static<typeof QueryType>

/** The types of a value in a comparison (spec "Query forms", 2 and 3). */
export const QueryValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Record(Type.String(), Type.Unknown())], {
  description: 'A string, number, boolean or object; strings are safest (G10).',
})

export const IdentifierQuery = Type.Object(
  { type: Type.String({ description: 'Identifier type, such as UIN or MOBILE.' }), value: QueryValue },
  { title: 'IdentifierQuery', description: 'Form idtype-value (spec "Query forms", 2): the records that bear the identifier.' },
)
export type IdentifierQuery = Static<typeof IdentifierQuery>

/** The schema of a query in the form expression or graphql: `type` names the form, `value` has the conditions. */
export const TypedExpression = Type.Object(
  {
    type: Type.String({ description: 'Names the query type, such as ns:org:QueryType:expression (G12).' }),
    value: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The expression: a graphql text, or {collection, query} with conditions on attributes by $and, $or, $nor, ' +
        '$not, $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $startsWith and $contains (G13). A bare value ' +
        'means equality; conditions of one object on the members of a list are about one and the same element.',
    }),
  },
  { title: 'TypedExpression', description: 'Forms expression and graphql (spec "Query forms", 1).' },
)
export type TypedExpression = Static<typeof TypedExpression>

/** The operators of a comparison (spec "Query forms", 3). */
export const OPERATORS = ['gt', 'lt', 'eq', 'ge', 'le', 'in'] as const

export const Comparison = Type.Object(
  {
    attribute_name: Type.String(),
    operator: oneOf(OPERATORS),
    attribute_value: Type.Union([...QueryValue.anyOf, Type.Array(QueryValue, { description: 'For operator in.' })], {
      description: 'The value compared with; strings are safest (G10).',
    }),
  },
  { title: 'Comparison', description: 'One comparison (G11: all three members are required).' },
)
export type Comparison = Static<typeof Comparison>

export const ExpressionListElement = Type.Object(
  {
    seq_num: Type.Optional(Type.Number({ description: 'Place of the element in the order of the list.' })),
    expression1: Comparison,
    condition: Type.Optional(
      oneOf(['and', 'or', 'not'], { description: 'How the two are joined; not means the first and not the second.' }),
    ),
    expression2: Type.Optional(Comparison),
  },
  { title: 'ExpressionListElement', description: 'One element of form predicate (spec "Query forms", 3).' },
)
export type ExpressionListElement = Static<typeof ExpressionListElement>

export const ExpressionList = Type.Array(ExpressionListElement, {
  description: 'Form predicate (spec "Query forms", 3): every element must hold, and each is a bracket of its own.',
})

export const Query = Type.Union([IdentifierQuery, TypedExpression, ExpressionList], {
  title: 'Query',
  description: 'One of the query forms; its shape decides when query_type disagrees (D21).',
})
export type Query = Static<typeof Query>

/** A filter in an answer: as the sender wrote it, also in forms that are accepted but not documented. */
export const EchoedFilter = Type.Union(
  [Query, Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown()), Type.String()],
  { title: 'EchoedFilter', description: 'The filter as it was sent: a query form, or another accepted spelling of one.' },
)
export type EchoedFilter = Static<typeof EchoedFilter>

export const SortCriterion = Type.Object(
  {
    attribute_name: Type.Optional(Type.String({ description: 'A sortable attribute.' })),
    sort_order: Type.Optional(oneOf(['asc', 'desc'])),
  },
  { title: 'SortCriterion', description: 'One key of the order of results (G9).' },
)
export type SortCriterion = Static<typeof SortCriterion>
