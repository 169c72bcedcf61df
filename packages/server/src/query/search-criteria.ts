/** What a search item asks for, read completely or refused; nothing of it is passed over (spec "SearchRequest"). */
import {
  Consent,
  SearchCriteria as Criteria,
  ItemRejection,
  isJsonObject,
  isRegType,
  isSearchEventType,
  isSpokenVersion,
  type Kind,
  REG_TYPE_PREFIX,
  type RecordType,
  resolveRecordType,
  validator,
} from '@rollcall/protocol'
import type { Predicate } from '../model/predicate.ts'
import { misspelt } from './near-names.ts'
import { type AskedKey, type PageLimits, readPageOf, readSort } from './page.ts'
import { type Query, type QueryLimits, QueryProblem, UnreadableQuery } from './query.ts'
import { readQuery } from './read-query.ts'

export interface SearchCriteria {
  readonly recordType: RecordType
  /** In the answer: the asker's own spelling, or the kind's where it named none. */
  readonly reg_type: string
  readonly reg_record_type: string
  readonly predicate: Predicate
  /** What the query keeps of a record, see `Query`. */
  readonly shape: Query['shape']
  readonly sort: readonly AskedKey[]
  readonly page_size: number
  readonly page_number: number
}

/**
 * Reads search_criteria of one item, and its pagination where that stands beside the criteria (D23).
 * @param max_page_size the participant's own, null when it has none
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.filter.invalid, rjct.sort.invalid, rjct.pagination.invalid
 */
export function readSearchCriteria(
  kind: Kind,
  item: { readonly [member: string]: unknown },
  limits: PageLimits & QueryLimits,
  max_page_size: number | null = null,
): SearchCriteria {
  const criteria = item.search_criteria
  if (!isJsonObject(criteria)) throw invalid('search_criteria: must be an object')
  checkNoOtherFilter(criteria)
  checkSpelling(criteria)
  checkVersion(criteria.version)
  const reg_type = readRegType(kind, criteria.reg_type)
  checkEventType(kind, criteria.reg_event_type)
  const named = readRecordType(kind, criteria)
  const { recordType, predicate, shape } = readCriteriaQuery(kind, named, criteria, limits)
  checkConsent(criteria, 'consent')
  checkConsent(criteria, 'authorize')
  const spelling = criteria.reg_record_type
  return {
    recordType,
    reg_type,
    reg_record_type: typeof spelling === 'string' ? spelling : recordType.emitted,
    predicate,
    shape,
    sort: readSort(recordType, criteria.sort),
    ...readPageOf(criteria, item, { ...limits, page_size: max_page_size ?? limits.page_size }),
  }
}

function readCriteriaQuery(
  kind: Kind,
  recordType: RecordType | undefined,
  { query_type, query }: { readonly [member: string]: unknown },
  limits: QueryLimits,
): Query {
  try {
    return readQuery({ kind, recordType, limits }, query_type, query, 'search_criteria.query')
  } catch (error) {
    if (error instanceof UnreadableQuery) throw new ItemRejection('rjct.filter.invalid', error.message)
    if (error instanceof QueryProblem) throw invalid(error.message)
    throw error
  }
}

/** Members that other systems narrow a search by, beside its query. Members that narrow nothing may stand there. */
const OTHER_FILTERS: ReadonlySet<string> = new Set([
  ...['filter', 'filters', 'where', 'criteria', 'condition', 'conditions'],
  ...['expression', 'expressions', 'predicate', 'predicates', 'identifier', 'identifiers'],
])

/** A filter passed over would widen the search. */
function checkNoOtherFilter(criteria: { readonly [member: string]: unknown }): void {
  const member = Object.keys(criteria).find((name) => OTHER_FILTERS.has(name.toLowerCase()))
  if (member === undefined) return
  throw invalid(`search_criteria.${member}: is not read; what is asked for stands in search_criteria.query`)
}

/** Members of the criteria, as the schema has them. */
const MEMBERS = Object.keys(Criteria.properties)

/** A member that is written wrong would be passed over, and the search be another one than was meant. */
function checkSpelling(criteria: object): void {
  const found = misspelt(criteria, MEMBERS)
  if (found === undefined) return
  throw invalid(`search_criteria.${found.member}: is not known; ${found.meant} may be meant`)
}

function checkVersion(version: unknown): void {
  if (version === undefined || (typeof version === 'string' && isSpokenVersion(version))) return
  throw invalid('search_criteria.version: must be 1.0.0')
}

function readRegType(kind: Kind, reg_type: unknown): string {
  const own = `${REG_TYPE_PREFIX}${kind.reg_type.name}`
  if (reg_type === undefined) return own
  if (typeof reg_type === 'string' && isRegType(kind, reg_type)) return reg_type
  throw invalid(`search_criteria.reg_type: this registry is ${own}`)
}

/** The member is checked and does not filter: a search asks for records, not for events. */
function checkEventType(kind: Kind, reg_event_type: unknown): void {
  if (reg_event_type === undefined) return
  if (typeof reg_event_type === 'string' && isSearchEventType(kind, reg_event_type)) return
  const known = [...kind.event_types.map(({ name }) => name), ...(kind.search_event_types ?? [])].join(', ')
  throw invalid(`search_criteria.reg_event_type: must be one of ${known}`)
}

/** reg_record_type and response_entity name the result type; where both stand they must mean the same. */
function readRecordType(
  kind: Kind,
  criteria: { readonly [member: string]: unknown },
): RecordType | undefined {
  const byType = resolveNamed(kind, criteria, 'reg_record_type')
  const byEntity = resolveNamed(kind, criteria, 'response_entity')
  if (byType !== undefined && byEntity !== undefined && byType !== byEntity) {
    throw invalid('search_criteria.response_entity: must mean the same record type as reg_record_type')
  }
  return byType ?? byEntity
}

function resolveNamed(
  kind: Kind,
  criteria: { readonly [member: string]: unknown },
  member: 'reg_record_type' | 'response_entity',
): RecordType | undefined {
  const spelling = criteria[member]
  if (spelling === undefined) return undefined
  const recordType = typeof spelling === 'string' ? resolveRecordType(kind, spelling) : undefined
  if (recordType !== undefined) return recordType
  const known = kind.record_types.map(({ emitted }) => emitted).join(', ')
  throw invalid(`search_criteria.${member}: must be one of ${known}`)
}

const consents = validator(Consent)

/** Read to see that it is one; nothing is made of it (G8). Members of other names say what they say. */
function checkConsent(criteria: { readonly [member: string]: unknown }, member: string): void {
  if (criteria[member] === undefined) return
  const problem = consents.problem(criteria[member], `search_criteria.${member}`)
  if (problem !== null) throw invalid(problem)
}

const invalid = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
