/** Reads a typed expression (spec "Query forms" 1; D21): a type, and a value that may have many shapes. */
import { isJsonObject, JsonError, type JsonValue, parseJson, resolveIdentifierType, resolveRecordType } from '@rollcall/protocol'
import type { Predicate } from '../../model/predicate.ts'
import { readGraphql } from '../graphql/graphql.ts'
import { type Query, QueryProblem, QueryTextProblem } from '../query.ts'
import { readExpression } from './expression.ts'
import { readExpressionList } from './expression-list.ts'
import { readIdentifiers, readIdentifierType } from './leaves.ts'
import { resolveOperator } from './operators.ts'
import {
  findQueryObjectForm,
  type MemberValue,
  type QueryObjectForm,
  type QueryObjectMembers,
  type QueryReader,
} from './reader.ts'

/** The form of a query. The last part of the member `type`, or the member `query_type`, names the form. */
export type StatedQueryForm = 'expression' | 'predicate' | 'graphql' | 'identifier'

const QUERY_FORM_BY_TYPE: ReadonlyMap<string, StatedQueryForm> = new Map([
  ['expression', 'expression'],
  ['nosql', 'expression'],
  ['predicate', 'predicate'],
  ['graphql', 'graphql'],
  ['idtype-value', 'identifier'],
  ['idtype', 'identifier'],
])

export type ReadQueryForm = (reader: QueryReader, members: QueryObjectMembers, word: StatedQueryForm | undefined) => Query

/** Forms that contain another query. They may be the whole query or part of one. */
export const FORMS_WITH_INNER_QUERY: readonly QueryObjectForm<ReadQueryForm>[] = [
  {
    members: ['expression'],
    optional: ['variables', 'operationName'],
    read: (reader, members, word) => readQueryValue(reader, members.of('expression'), word, members),
  },
  {
    members: ['query'],
    optional: ['collection', 'variables', 'operationName'],
    read: (reader, members, word) => {
      const collection = members.get('collection')
      if (collection !== undefined) noteCollectionRecordType(reader, collection)
      return readQueryValue(reader, members.of('query'), word, members)
    },
  },
]

/** The forms that an object in `value`, `expression` or `query` may have. */
const TYPED_VALUE_FORMS: readonly QueryObjectForm<ReadQueryForm>[] = [
  {
    members: ['id_type', 'id_value'],
    read: (reader, members) => makeQuery(reader, readIdentifierQuery(reader, members.of('id_type'), members.of('id_value'))),
  },
  ...FORMS_WITH_INNER_QUERY,
]

/** A query for the record type of the reader, without a selection. */
export function makeQuery({ recordType }: QueryReader, predicate: Predicate): Query {
  return { predicate, recordType }
}

/**
 * Reads { type, value }. If the type names a form of query, and the value is an object, a list or a text, the value is read as a
 * query; with the form `identifier`, a text is an identifier value instead. Otherwise type and value are those of an identifier.
 */
export function readTypedQuery(reader: QueryReader, members: QueryObjectMembers): Query {
  const [type, value] = [members.of('type'), members.of('value')]
  const isIdentifier = typeof type.value === 'string' && resolveIdentifierType(reader.kind, type.value) !== undefined
  const word = isIdentifier ? undefined : findStatedQueryForm(type)
  const isBare = typeof value.value !== 'object' || value.value === null
  if (word !== undefined && (!isBare || (word !== 'identifier' && typeof value.value === 'string'))) {
    return readQueryValue(reader, value, word)
  }
  if (!isIdentifier && !isBare) {
    throw new QueryProblem(type.path, 'must be an identifier type, expression, NoSql, predicate or graphql')
  }
  return makeQuery(reader, readIdentifierQuery(reader, type, value))
}

/** The form that the member `type` states; undefined when it states none. @throws QueryProblem it states SQL */
function findStatedQueryForm({ value, path }: MemberValue): StatedQueryForm | undefined {
  if (typeof value !== 'string') return undefined
  const segment = value.slice(value.lastIndexOf(':') + 1).trim()
  if (segment.toLowerCase() !== 'sql') return QUERY_FORM_BY_TYPE.get(segment.toLowerCase())
  throw new QueryProblem(path, 'SQL is not answered; ask with expression, predicate or graphql')
}

/**
 * Reads the value of `value`, `expression` or `query`; its shape decides the form.
 * @param around the members beside the value, which may have the variables of a GraphQL text
 */
export function readQueryValue(
  reader: QueryReader,
  { value, path }: MemberValue,
  word: StatedQueryForm | undefined,
  around?: QueryObjectMembers,
): Query {
  if (typeof value === 'string') return readQueryText(reader, { value, path }, word, around)
  const stray = around?.get('variables') ?? around?.get('operationName')
  if (stray !== undefined) throw new QueryProblem(stray.path, 'may stand beside a GraphQL text alone')
  if (Array.isArray(value) || (isJsonObject(value) && Object.hasOwn(value, 'expression1'))) {
    return makeQuery(reader, readExpressionList(reader, value, path))
  }
  const form = findQueryObjectForm(TYPED_VALUE_FORMS, value, path)
  if (form !== undefined) return reader.within(path, () => form.read(reader, form.members, word))
  const predicate = readExpression(reader, value, path)
  if (around === undefined && predicate.is === 'identifier_type' && hasOneSimpleMember(value)) {
    // An identifier type without a value is refused: as an expression, it would find everyone who has such an identifier.
    throw new QueryProblem(path, 'must have an identifier value beside its type')
  }
  return makeQuery(reader, predicate)
}

/** True for an object with one member and no operator, such as { identifier_type: "UIN" }. */
function hasOneSimpleMember(value: JsonValue): boolean {
  const members = isJsonObject(value) ? Object.values(value) : []
  return members.length === 1 && typeof members[0] !== 'object'
}

/** The beginning of a JSON list or object. A GraphQL text does not begin with a quoted name or with `{}`. */
const JSON_START_PATTERN = /^\s*(?:\[|\{\s*["}])/
const GRAPHQL_START_PATTERN = /^[\s,\uFEFF]*(?:#|\{|(?:query|mutation|subscription|fragment)\b)/

/**
 * Reads a text. It is GraphQL if its type says so. Otherwise its beginning decides: JSON is parsed and read like a
 * value, GraphQL is read as such, and any other text is refused.
 */
function readQueryText(
  reader: QueryReader,
  { value: text, path }: { readonly value: string; readonly path: string },
  word: StatedQueryForm | undefined,
  around: QueryObjectMembers | undefined,
): Query {
  if (word !== 'graphql' && JSON_START_PATTERN.test(text)) {
    return reader.within(path, () => readQueryValue(reader, { value: parseQueryText(reader, text, path), path }, word, around))
  }
  if (word !== 'graphql' && !GRAPHQL_START_PATTERN.test(text)) throw new QueryTextProblem(path, 'must be GraphQL or JSON text')
  const variables = around?.get('variables')?.value
  return readGraphql(reader.scope, { text, variables, operationName: readGraphqlOperationName(around) }, path)
}

function readGraphqlOperationName(around: QueryObjectMembers | undefined): string | undefined {
  const { value, path } = around?.of('operationName') ?? { value: null, path: '' }
  if (value === null || typeof value === 'string') return value ?? undefined
  throw new QueryProblem(path, 'must be a string')
}

function parseQueryText({ limits }: QueryReader, text: string, path: string): JsonValue {
  try {
    // These are enough values for every query within the limits. A text of megabytes is not read to its end.
    return parseJson(text, { maxValues: 10 * limits.query_values })
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new QueryTextProblem(path, `must be JSON that can be read: ${error.message}`)
  }
}

function noteCollectionRecordType(reader: QueryReader, { value, path }: MemberValue): void {
  const recordType = typeof value === 'string' ? resolveRecordType(reader.kind, value) : undefined
  if (recordType === undefined) {
    const known = reader.kind.record_types.map(({ emitted }) => emitted).join(', ')
    throw new QueryProblem(path, `must be one of ${known}`)
  }
  reader.nameCollection(recordType, path)
}

/** The predicate for records that have this identifier. @throws QueryProblem */
export function readIdentifierQuery(reader: QueryReader, type: MemberValue, value: MemberValue): Predicate {
  const known = readIdentifierType(reader.kind, type.value, type.path)
  reader.term(value.path)
  return { is: 'identifier', identifiers: readIdentifiers([known], value) }
}

/** Reads { field, operator, value } where the field is an identifier type: an older form that only knows equality. */
export function readFieldOperatorValue(
  reader: QueryReader,
  field: MemberValue,
  operator: MemberValue,
  value: MemberValue,
): Predicate {
  const known = typeof operator.value === 'string' ? resolveOperator(operator.value) : undefined
  if (known?.name !== 'eq') throw new QueryProblem(operator.path, 'must be eq')
  return readIdentifierQuery(reader, field, value)
}
