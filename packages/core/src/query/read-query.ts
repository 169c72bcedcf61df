/**
 * Reads a query in any form. Its shape decides the form, not `query_type` (D21); but a text of the type graphql is
 * always GraphQL.
 */
import { isJsonObject, type JsonValue, QUERY_TYPES } from '@rollcall/protocol'
import type { QueryForm } from '../model/grant.ts'
import { readComparison } from './forms/expression-list.ts'
import { findQueryObjectForm, type QueryObjectForm, QueryReader } from './forms/reader.ts'
import {
  FORMS_WITH_INNER_QUERY,
  makeQuery,
  type ReadQueryForm,
  readFieldOperatorValue,
  readIdentifierQuery,
  readQueryValue,
  readTypedQuery,
  type StatedQueryForm,
} from './forms/typed-query.ts'
import { type Query, QueryProblem, type QueryScope } from './query.ts'

/** The form that each value of `query_type`, in lower case, names. `idtype` is an older value for `idtype-value`. */
const FORM_BY_QUERY_TYPE: ReadonlyMap<string, StatedQueryForm> = new Map([
  ['idtype-value', 'identifier'],
  ['expression', 'expression'],
  ['predicate', 'predicate'],
  ['graphql', 'graphql'],
  ['idtype', 'identifier'],
])

/** The form that a `query_type` names; undefined when it names none. */
export const findQueryTypeForm = (query_type: unknown): StatedQueryForm | undefined =>
  typeof query_type === 'string' ? FORM_BY_QUERY_TYPE.get(query_type.toLowerCase()) : undefined

/**
 * The form as a grant names it: identifiers alone are `identifier`, however they are written; a query with a selection
 * is `graphql`. Other queries have the form that `query_type` names, but `expression` if it names `identifier` or no form.
 */
export function queryFormOf(query_type: unknown, { predicate, shape }: Query): QueryForm {
  if (shape !== undefined) return 'graphql'
  if (predicate.is === 'identifier') return 'identifier'
  const word = findQueryTypeForm(query_type)
  return word === undefined || word === 'identifier' ? 'expression' : word
}

/** The forms that a query may have as an object, found by its members. `readQueryValue` reads any other object. */
const QUERY_OBJECT_FORMS: readonly QueryObjectForm<ReadQueryForm>[] = [
  {
    members: ['query_name'],
    optional: ['query_params'],
    read: (_reader, members) => {
      throw new QueryProblem(members.path, 'named queries are not answered; ask with expression, predicate or graphql')
    },
  },
  {
    members: ['attribute_name'],
    optional: ['operator', 'attribute_value'],
    read: (reader, members) => makeQuery(reader, readComparison(reader, members.whole, members.path)),
  },
  {
    members: ['field', 'operator', 'value'],
    read: (reader, { of }) => makeQuery(reader, readFieldOperatorValue(reader, of('field'), of('operator'), of('value'))),
  },
  {
    members: ['identifier_type', 'identifier_value'],
    exactly: true,
    read: (reader, { of }) => makeQuery(reader, readIdentifierQuery(reader, of('identifier_type'), of('identifier_value'))),
  },
  { members: ['type'], optional: ['value'], read: readTypedQuery },
  // `readTypedQuery` refuses a query with `value` and no `type`, with a clearer message than one about an attribute `value`.
  { members: ['value'], optional: ['type'], read: readTypedQuery },
  ...FORMS_WITH_INNER_QUERY,
]

/**
 * Reads a query completely, or refuses it.
 * @param query_type the member beside the query; its path is `path` with `_type`
 * @throws QueryProblem, whatever the query is; errors of `scope.visible` are passed on
 */
export function readQuery(scope: QueryScope, query_type: unknown, query: unknown, path: string): Query {
  const word = findQueryTypeForm(query_type)
  if (word === undefined) throw new QueryProblem(`${path}_type`, `must be one of ${QUERY_TYPES.join(', ')}`)
  return readQueryInForm(scope, word, query, path)
}

/** Reads a filter. Without `filter_type`, the shape of the filter decides its form (N3). @throws QueryProblem */
export const readFilter = (scope: QueryScope, filter_type: unknown, filter: unknown, path: string): Query =>
  filter_type === undefined ? readQueryInForm(scope, undefined, filter, path) : readQuery(scope, filter_type, filter, path)

function readQueryInForm(scope: QueryScope, word: StatedQueryForm | undefined, query: unknown, path: string): Query {
  const reader = new QueryReader(scope)
  if (isJsonObject(query)) {
    const form = findQueryObjectForm(QUERY_OBJECT_FORMS, query, path)
    if (form !== undefined) return form.read(reader, form.members, word)
  } else if (!Array.isArray(query) && typeof query !== 'string') {
    throw new QueryProblem(path, 'must be an object or an array')
  }
  return readQueryValue(reader, { value: query as JsonValue, path }, word)
}
