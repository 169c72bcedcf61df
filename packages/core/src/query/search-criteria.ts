/** Reads the criteria of a search item completely, or refuses them (spec "SearchRequest"). */
import { isJsonObject, type Kind, type RecordType, SearchCriteria as SearchCriteriaSchema } from '@rollcall/protocol'
import type { QueryForm } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import {
  type Criteria,
  type CriteriaRules,
  checkCommonMembers,
  checkConsent,
  checkEventType,
  criteriaRejection,
  readQueryOrReject,
  readRecordType,
} from './criteria.ts'
import { type PageLimits, readAskedPage, readSort, type SortKeyWithoutDay } from './page.ts'
import type { Query, QueryLimits, QueryScope } from './query.ts'
import { queryFormOf, readQuery } from './read-query.ts'

/** The criteria of a search item, read and checked. */
export interface SearchCriteria {
  readonly recordType: RecordType
  /** The reg_type for the answer: as the request writes it, or that of the kind. */
  readonly reg_type: string
  readonly reg_record_type: string
  readonly predicate: Predicate
  /** The selection of the query, see `Query`. */
  readonly shape: Query['shape']
  /** The form of the query, as a grant names it. */
  readonly form: QueryForm
  readonly sort: readonly SortKeyWithoutDay[]
  readonly page_size: number
  readonly page_number: number
}

const SEARCH_CRITERIA_RULES: CriteriaRules = {
  name: 'search_criteria',
  code: 'rjct.search_criteria.invalid',
  members: Object.keys(SearchCriteriaSchema.properties),
  filter: 'query',
}

/**
 * Reads the search_criteria of an item, and its pagination, which may also be beside the criteria (D23).
 * @param max_page_size the most records in a page for the participant; null for the limit of the server
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.filter.invalid, rjct.sort.invalid, rjct.pagination.invalid
 */
export function readSearchCriteria(
  kind: Kind,
  item: { readonly [member: string]: unknown },
  limits: PageLimits & QueryLimits,
  { max_page_size = null, visible }: { readonly max_page_size?: number | null; readonly visible?: QueryScope['visible'] } = {},
): SearchCriteria {
  const criteria = item.search_criteria
  if (!isJsonObject(criteria)) throw criteriaRejection(SEARCH_CRITERIA_RULES, '', 'must be an object')
  const reg_type = checkCommonMembers(SEARCH_CRITERIA_RULES, kind, criteria)
  checkEventType(SEARCH_CRITERIA_RULES, kind, criteria)
  checkConsent(SEARCH_CRITERIA_RULES, criteria, 'consent')
  checkConsent(SEARCH_CRITERIA_RULES, criteria, 'authorize')
  const named = readResultRecordType(kind, criteria)
  const query = readQueryOrReject(SEARCH_CRITERIA_RULES, () =>
    readQuery({ kind, recordType: named, limits, visible }, criteria.query_type, criteria.query, 'search_criteria.query'),
  )
  const { recordType, predicate, shape } = query
  const spelling = criteria.reg_record_type
  return {
    recordType,
    reg_type,
    reg_record_type: typeof spelling === 'string' ? spelling : recordType.emitted,
    predicate,
    shape,
    form: queryFormOf(criteria.query_type, query),
    sort: readSort(kind, recordType, criteria.sort),
    ...readAskedPage(criteria, item, { ...limits, page_size: max_page_size ?? limits.page_size }),
  }
}

/** The record type of the result, from reg_record_type or response_entity; both must agree; undefined when neither is given. */
function readResultRecordType(kind: Kind, criteria: Criteria): RecordType | undefined {
  const byType = readRecordType(SEARCH_CRITERIA_RULES, kind, criteria, 'reg_record_type')
  const byEntity = readRecordType(SEARCH_CRITERIA_RULES, kind, criteria, 'response_entity')
  if (byType !== undefined && byEntity !== undefined && byType !== byEntity) {
    throw criteriaRejection(SEARCH_CRITERIA_RULES, 'response_entity', 'must mean the same record type as reg_record_type')
  }
  return byType ?? byEntity
}
