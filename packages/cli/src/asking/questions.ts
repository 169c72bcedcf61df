/** Reads the queries of `rollcall search`, `subscribe` and `check` from their options. */
import {
  assertedConsent,
  type Conditions,
  expression,
  graphql,
  identifier,
  type QueryCriteria,
  type SearchInput,
  signedConsent,
  type UnderConsent,
} from '@rollcall/client'
import { isJsonObject, type JsonObject, type JsonValue, type SearchCriteria } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { parseJsonText, readFileOrStdin } from '../input.ts'
import { readTypeAndValue } from '../values.ts'

export interface SearchQueryOptions {
  readonly identifier?: readonly string[]
  readonly where?: string
  readonly graphql?: string
  readonly query?: string
  readonly recordType?: string
  readonly pageSize?: number
  readonly page?: number
  readonly sort?: readonly string[]
  readonly consentPurpose?: string
  readonly consentJws?: string
}

/** Reads one search, or a batch of searches, from options. @throws CommandError, which repeats no value */
export async function readQuestions(options: SearchQueryOptions): Promise<readonly SearchInput[]> {
  const { identifier: identifiers, where, graphql: text, query } = options
  const given = [identifiers, where, text, query].filter((form) => form !== undefined)
  if (given.length !== 1) {
    throw new CommandError('say what to search for, with exactly one of --identifier, --where, --graphql and --query')
  }
  const inputs =
    query === undefined
      ? searchesInOptions(options)
      : searchesInQueryFile(parseJsonText(query === '-' ? 'standard input' : query, await readFileOrStdin(query)))
  const under = await readConsent(options)
  return inputs.map((input) => addSearchOptions(input, options, under))
}

/** Reads the consent from options: a signed one in a file, or an unsigned one for a purpose. */
async function readConsent({ consentPurpose: purpose, consentJws }: SearchQueryOptions): Promise<UnderConsent> {
  if (consentJws === undefined) return purpose === undefined ? {} : assertedConsent(purpose)
  const jws = (await readFileOrStdin(consentJws, '--consent-jws')).trim()
  return signedConsent(jws, purpose === undefined ? {} : { purpose })
}

const WHERE_ADVICE = `write conditions such as '{"sex": "female"}', in single quotes for the shell`

function searchesInOptions({ identifier: identifiers, where, graphql: text }: SearchQueryOptions): readonly SearchInput[] {
  if (identifiers !== undefined) return identifiers.map(queryByIdentifier)
  if (text !== undefined) return [graphql(text)]
  return [queryByConditions(parseJsonText('--where', where ?? '', WHERE_ADVICE), '--where')]
}

function queryByIdentifier(text: string): QueryCriteria {
  const { type, value } = readTypeAndValue(text, '--identifier')
  return identifier(type, value)
}

function queryByConditions(value: JsonValue, name: string): QueryCriteria {
  if (isJsonObject(value)) return expression(value as JsonObject & Conditions)
  throw new CommandError(`${name} must be a JSON object of conditions, such as {"sex": "female"}`)
}

/** Finds the searches in the file of --query, which may be a request, a message, an item, search_criteria or a query. */
function searchesInQueryFile(value: JsonValue): readonly SearchInput[] {
  if (isJsonObject(value)) {
    if (isJsonObject(value.message)) return searchesInQueryFile(value.message)
    if (Array.isArray(value.search_request)) return value.search_request.map(requireSearchItem)
    if (Object.hasOwn(value, 'search_criteria')) return [requireSearchItem(value)]
    if (Object.hasOwn(value, 'query_type')) return [asSearchCriteria(value)]
    return [criteriaFromJson(value)]
  }
  if (typeof value === 'string') return [graphql(value)]
  if (Array.isArray(value)) return [asSearchCriteria({ query_type: 'predicate', query: value })]
  throw new CommandError('the file of --query must hold search_criteria, a query, or a whole request')
}

function requireSearchItem(value: JsonValue): SearchInput {
  if (isJsonObject(value) && isJsonObject(value.search_criteria)) return value as JsonObject & SearchInput
  throw new CommandError('the file of --query: each item of search_request must be an object with search_criteria')
}

/**
 * Makes criteria from JSON. Without `type`, it has conditions by attribute. With `type`, it is a query: of an identifier if
 * `value` is no object, of GraphQL if `value.expression` is a text, otherwise of an expression.
 */
function criteriaFromJson(value: JsonObject): SearchInput {
  const { type, value: inner } = value
  if (typeof type !== 'string') return queryByConditions(value, '--query')
  if (!isJsonObject(inner)) return asSearchCriteria({ query_type: 'idtype-value', query: value })
  const { expression: said } = inner
  return asSearchCriteria({ query_type: typeof said === 'string' ? 'graphql' : 'expression', query: value })
}

// The members of `query` are not checked here: the registry checks them, and says what is wrong.
const asSearchCriteria = (criteria: JsonObject): SearchCriteria => criteria as JsonObject & SearchCriteria

/** Adds record type, pages, sorting and consent from options to a search. The options override the file of --query. */
function addSearchOptions(input: SearchInput, options: SearchQueryOptions, under: UnderConsent): SearchInput {
  const isItem = 'search_criteria' in input
  const criteria = isItem ? input.search_criteria : input
  const { recordType, pageSize, page, sort } = options
  const pagination = {
    ...criteria.pagination,
    ...(pageSize !== undefined && { page_size: pageSize }),
    ...(page !== undefined && { page_number: page }),
  }
  if (page !== undefined && pagination.page_size === undefined) {
    throw new CommandError('--page needs --page-size, the number of records on a page')
  }
  const whole: SearchCriteria = {
    ...criteria,
    ...under,
    ...(recordType !== undefined && { reg_record_type: recordType }),
    ...(sort !== undefined && { sort: sort.map(readSortOption) }),
    ...(Object.keys(pagination).length > 0 && { pagination: pagination as SearchCriteria['pagination'] & object }),
  }
  return isItem ? { ...input, search_criteria: whole } : whole
}

function readSortOption(text: string): NonNullable<SearchCriteria['sort']>[number] {
  const [attribute_name = '', order = 'asc', ...more] = text.split(':')
  if (attribute_name !== '' && (order === 'asc' || order === 'desc') && more.length === 0) {
    return { attribute_name, sort_order: order }
  }
  throw new CommandError('--sort must be an attribute, such as birth_date or birth_date:desc')
}
