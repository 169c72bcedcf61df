/** The schemas of a search. Spec "SearchRequest", "SearchResponse". */
import Type, { type Static } from 'typebox'
import { codesOf } from '../codes.ts'
import {
  Consent,
  CorrelationId,
  EchoedReferenceId,
  Locale,
  oneOf,
  PageRequest,
  Pagination,
  ReferenceId,
  RegEventType,
  RegistryRecord,
  RegRecordType,
  RegType,
  Status,
  StatusReasonMessage,
  Timestamp,
  TransactionId,
  Version,
} from '../common.ts'
import { IncomingConsent, IncomingPage, schemaIgnoringNonObjects } from './incoming.ts'
import { Query, QueryType, SortCriterion } from './query.ts'

export const SearchCriteria = Type.Object(
  {
    version: Type.Optional(Version),
    reg_type: Type.Optional(RegType),
    reg_record_type: Type.Optional(RegRecordType),
    reg_event_type: Type.Optional(RegEventType),
    response_entity: Type.Optional(Type.String({ description: 'The record type returned, in the social variant (G7).' })),
    query_type: QueryType,
    query: Query,
    sort: Type.Optional(Type.Array(SortCriterion)),
    pagination: Type.Optional(PageRequest),
    consent: Type.Optional(Consent),
    authorize: Type.Optional(Consent),
  },
  { title: 'SearchCriteria', description: 'What is searched for (spec "SearchRequest").' },
)
export type SearchCriteria = Static<typeof SearchCriteria>

export const SearchRequestItem = Type.Object(
  { reference_id: ReferenceId, timestamp: Timestamp, search_criteria: SearchCriteria, locale: Type.Optional(Locale) },
  { title: 'SearchRequestItem', description: 'One search of a batch (spec "SearchRequest").' },
)
export type SearchRequestItem = Static<typeof SearchRequestItem>

export const SearchRequest = Type.Object(
  { transaction_id: TransactionId, search_request: Type.Array(SearchRequestItem) },
  { title: 'SearchRequest', description: 'A batch of searches (spec "SearchRequest").' },
)
export type SearchRequest = Static<typeof SearchRequest>

/** The schema for a received search. What the schema does not check is checked later, item by item. */
export const IncomingSearchRequest = Type.Object({
  transaction_id: TransactionId,
  search_request: Type.Array(
    Type.Object({
      reference_id: Type.Optional(Type.Unknown()),
      timestamp: Timestamp,
      search_criteria: Type.Optional(
        schemaIgnoringNonObjects({ pagination: IncomingPage, consent: IncomingConsent, authorize: IncomingConsent }),
      ),
      locale: Type.Optional(Locale),
      pagination: Type.Optional(IncomingPage),
    }),
  ),
})
export type IncomingSearchRequest = Static<typeof IncomingSearchRequest>

export const SearchReasonCode = oneOf(codesOf('search'), { description: 'Set with status rjct (spec "Errors", 3).' })

export const SearchData = Type.Object(
  {
    version: Type.Optional(Version),
    reg_type: Type.Optional(RegType),
    reg_record_type: Type.Optional(RegRecordType),
    reg_records: Type.Array(RegistryRecord, { description: 'An array in searches, empty when none is found (D6).' }),
  },
  { title: 'SearchData', description: 'The records found (spec "SearchResponse").' },
)
export type SearchData = Static<typeof SearchData>

export const SearchResponseItem = Type.Object(
  {
    reference_id: EchoedReferenceId,
    timestamp: Timestamp,
    status: Status,
    status_reason_code: Type.Optional(SearchReasonCode),
    status_reason_message: Type.Optional(StatusReasonMessage),
    data: Type.Optional(SearchData),
    pagination: Type.Optional(Pagination),
    locale: Type.Optional(Locale),
  },
  { title: 'SearchResponseItem', description: 'The answer to one search (spec "SearchResponse").' },
)
export type SearchResponseItem = Static<typeof SearchResponseItem>

export const SearchResponse = Type.Object(
  { transaction_id: TransactionId, correlation_id: CorrelationId, search_response: Type.Array(SearchResponseItem) },
  { title: 'SearchResponse', description: 'The answers to a batch of searches, in its order (spec "SearchResponse").' },
)
export type SearchResponse = Static<typeof SearchResponse>
