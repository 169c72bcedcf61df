/** What a search item asks for, read completely or refused; nothing of it is passed over (spec "SearchRequest"). */
import {
  ItemRejection,
  isJsonObject,
  isRegType,
  isSpokenVersion,
  type Kind,
  REG_TYPE_PREFIX,
  type RecordType,
  resolveEventType,
  resolveRecordType,
} from '@rollcall/protocol'
import type { Identifier, SortKey } from '../store/records.ts'
import { readIdentifierQuery } from './identifier-query.ts'
import { type PageLimits, readPage, readSort } from './page.ts'

export interface SearchCriteria {
  readonly recordType: RecordType
  /** In the answer: the asker's own spelling, or the kind's where it named none. */
  readonly reg_type: string
  readonly reg_record_type: string
  readonly identifier: Identifier
  readonly sort: readonly SortKey[]
  readonly page_size: number
  readonly page_number: number
}

/**
 * Reads search_criteria of one item, and its pagination where that stands beside the criteria (D23).
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.sort.invalid, rjct.pagination.invalid
 */
export function readSearchCriteria(
  kind: Kind,
  item: { readonly [member: string]: unknown },
  limits: PageLimits,
): SearchCriteria {
  const criteria = item.search_criteria
  if (!isJsonObject(criteria)) throw invalid('search_criteria: must be an object')
  checkVersion(criteria.version)
  const reg_type = readRegType(kind, criteria.reg_type)
  checkEventType(kind, criteria.reg_event_type)
  const { recordType, reg_record_type } = readRecordType(kind, criteria)
  const identifier = readIdentifierQuery(kind, criteria.query_type, criteria.query)
  checkConsent(criteria, 'consent')
  checkConsent(criteria, 'authorize')
  return {
    recordType,
    reg_type,
    reg_record_type,
    identifier,
    sort: readSort(recordType, criteria.sort),
    ...readPage(criteria.pagination ?? item.pagination, limits),
  }
}

function checkVersion(version: unknown): void {
  if (version === undefined || (typeof version === 'string' && isSpokenVersion(version))) return
  throw invalid('search_criteria.version: only 1.0.0 is spoken here')
}

function readRegType(kind: Kind, reg_type: unknown): string {
  const own = `${REG_TYPE_PREFIX}${kind.reg_type.name}`
  if (reg_type === undefined) return own
  if (typeof reg_type === 'string' && isRegType(kind, reg_type)) return reg_type
  throw invalid(`search_criteria.reg_type: this registry is ${own}`)
}

/** Validated, and no filter: a search asks for records, not for what happened to them. */
function checkEventType(kind: Kind, reg_event_type: unknown): void {
  if (reg_event_type === undefined) return
  if (typeof reg_event_type === 'string' && resolveEventType(kind, reg_event_type) !== undefined) return
  const known = kind.event_types.map(({ name }) => name).join(', ')
  throw invalid(`search_criteria.reg_event_type: must be one of ${known}`)
}

/** reg_record_type and response_entity name the result type; where both stand they must mean the same. */
function readRecordType(
  kind: Kind,
  criteria: { readonly [member: string]: unknown },
): { recordType: RecordType; reg_record_type: string } {
  const byType = resolveNamed(kind, criteria, 'reg_record_type')
  const byEntity = resolveNamed(kind, criteria, 'response_entity')
  if (byType !== undefined && byEntity !== undefined && byType !== byEntity) {
    throw invalid('search_criteria.response_entity: must mean the same record type as reg_record_type')
  }
  const recordType = byType ?? byEntity ?? kind.record_types[0]
  const spelling = criteria.reg_record_type
  return { recordType, reg_record_type: typeof spelling === 'string' ? spelling : recordType.emitted }
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

function checkConsent(criteria: { readonly [member: string]: unknown }, member: string): void {
  if (criteria[member] === undefined || isJsonObject(criteria[member])) return
  throw invalid(`search_criteria.${member}: must be an object`)
}

const invalid = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
