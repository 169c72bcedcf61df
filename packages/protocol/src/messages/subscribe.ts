/** The schemas of a subscribe request. Spec "SubscribeRequest", "SubscribeResponse"; required members from N3. */
import Type, { type Static } from 'typebox'
import { codesOf } from '../codes.ts'
import {
  Consent,
  CorrelationId,
  EchoedReferenceId,
  Locale,
  oneOf,
  Pagination,
  ReferenceId,
  RegEventType,
  RegRecordType,
  RegType,
  Status,
  StatusReasonMessage,
  SubscriptionCode,
  SubscriptionStatus,
  Timestamp,
  TransactionId,
  Version,
} from '../common.ts'
import { IncomingConsent, schemaIgnoringNonObjects, TimeIfString } from './incoming.ts'
import { EchoedFilter, Query, QueryType } from './query.ts'

export const Frequency = Type.Object(
  {
    start_time: Timestamp,
    end_time: Timestamp,
    frequency: Type.String({ description: 'A cron expression of 5, 6 or 7 fields.' }),
  },
  { title: 'Frequency', description: 'When notifications are sent, within start_time and end_time (spec "SubscribeRequest").' },
)
export type Frequency = Static<typeof Frequency>

const NotifyRecordType = Type.String({ description: 'Record type to be sent with a notification.' })

export const SubscribeCriteria = Type.Object(
  {
    version: Type.Optional(Version),
    reg_type: Type.Optional(RegType),
    reg_event_type: RegEventType,
    frequency: Type.Optional(Frequency),
    filter_type: Type.Optional(QueryType),
    filter: Query,
    notify_record_type: NotifyRecordType,
    authorize: Type.Optional(Consent),
  },
  { title: 'SubscribeCriteria', description: 'Which events are wanted (spec "SubscribeRequest", N3).' },
)
export type SubscribeCriteria = Static<typeof SubscribeCriteria>

export const SubscribeRequestItem = Type.Object(
  { reference_id: ReferenceId, timestamp: Timestamp, subscribe_criteria: SubscribeCriteria, locale: Type.Optional(Locale) },
  { title: 'SubscribeRequestItem', description: 'One subscription asked for (spec "SubscribeRequest").' },
)
export type SubscribeRequestItem = Static<typeof SubscribeRequestItem>

export const SubscribeRequest = Type.Object(
  { transaction_id: TransactionId, subscribe_request: Type.Array(SubscribeRequestItem) },
  { title: 'SubscribeRequest', description: 'A batch of subscriptions (spec "SubscribeRequest").' },
)
export type SubscribeRequest = Static<typeof SubscribeRequest>

/** The schema for a received subscribe request. What the schema does not check is checked later, item by item. */
export const IncomingSubscribeRequest = Type.Object({
  transaction_id: TransactionId,
  subscribe_request: Type.Array(
    Type.Object({
      reference_id: Type.Optional(Type.Unknown()),
      timestamp: Timestamp,
      subscribe_criteria: Type.Optional(
        schemaIgnoringNonObjects({
          frequency: schemaIgnoringNonObjects({ start_time: TimeIfString, end_time: TimeIfString }),
          authorize: IncomingConsent,
        }),
      ),
      locale: Type.Optional(Locale),
    }),
  ),
})
export type IncomingSubscribeRequest = Static<typeof IncomingSubscribeRequest>

export const Subscription = Type.Object(
  {
    version: Type.Optional(Version),
    code: SubscriptionCode,
    status: SubscriptionStatus,
    timestamp: Timestamp,
    reg_type: Type.Optional(RegType),
    reg_event_type: Type.Optional(RegEventType),
    frequency: Type.Optional(Frequency),
    filter_type: Type.Optional(QueryType),
    filter: Type.Optional(EchoedFilter),
    notify_record_type: Type.Optional(RegRecordType),
    locale: Type.Optional(Locale),
  },
  { title: 'Subscription', description: 'A subscription as it stands (spec "SubscribeResponse", N3).' },
)
export type Subscription = Static<typeof Subscription>

export const SubscribeReasonCode = oneOf(codesOf('subscribe'), { description: 'Set with status rjct (N17).' })

export const SubscribeResponseItem = Type.Object(
  {
    reference_id: EchoedReferenceId,
    timestamp: Timestamp,
    status: Status,
    status_reason_code: Type.Optional(SubscribeReasonCode),
    status_reason_message: Type.Optional(StatusReasonMessage),
    subscriptions: Type.Optional(Type.Array(Subscription)),
    pagination: Type.Optional(Pagination),
    locale: Type.Optional(Locale),
  },
  { title: 'SubscribeResponseItem', description: 'The answer to one item (spec "SubscribeResponse").' },
)
export type SubscribeResponseItem = Static<typeof SubscribeResponseItem>

export const SubscribeResponse = Type.Object(
  { transaction_id: TransactionId, correlation_id: CorrelationId, subscribe_response: Type.Array(SubscribeResponseItem) },
  { title: 'SubscribeResponse', description: 'The answers to a subscribe (spec "SubscribeResponse").' },
)
export type SubscribeResponse = Static<typeof SubscribeResponse>
