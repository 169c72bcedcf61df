/** The schemas of an unsubscribe request. Spec "UnSubscribeRequest", "UnSubscribeResponse". */
import Type, { type Static } from 'typebox'
import { codesOf } from '../codes.ts'
import {
  CorrelationId,
  oneOf,
  Status,
  StatusReasonMessage,
  SubscriptionCode,
  SubscriptionStatus,
  Timestamp,
  TransactionId,
} from '../common.ts'

export const UnSubscribeRequest = Type.Object(
  { transaction_id: TransactionId, timestamp: Timestamp, subscription_codes: Type.Array(SubscriptionCode) },
  { title: 'UnSubscribeRequest', description: 'Ends subscriptions (spec "UnSubscribeRequest").' },
)
export type UnSubscribeRequest = Static<typeof UnSubscribeRequest>

/** The largest number of codes in one request: as many as a batch can have items. */
const MOST_SUBSCRIPTION_CODES = 10_000

/** The schema for a received request. `timestamp` may be missing (social kind); at least one code is needed. */
export const IncomingUnSubscribeRequest = Type.Object({
  ...UnSubscribeRequest.properties,
  timestamp: Type.Optional(Timestamp),
  subscription_codes: Type.Array(SubscriptionCode, { minItems: 1, maxItems: MOST_SUBSCRIPTION_CODES }),
})
export type IncomingUnSubscribeRequest = Static<typeof IncomingUnSubscribeRequest>

export const UnSubscribeReasonCode = oneOf(codesOf('unsubscribe'), { description: 'Set with status rjct (spec "Errors", 4).' })

export const UnSubscribeResponse = Type.Object(
  {
    transaction_id: TransactionId,
    correlation_id: CorrelationId,
    timestamp: Timestamp,
    status: Status,
    status_reason_code: Type.Optional(UnSubscribeReasonCode),
    status_reason_message: Type.Optional(StatusReasonMessage),
    subscription_status: Type.Optional(Type.Array(Type.Object({ code: SubscriptionCode, status: SubscriptionStatus }))),
  },
  {
    title: 'UnSubscribeResponse',
    description: 'One status for the whole request, and the subscriptions ended (spec "UnSubscribeResponse").',
  },
)
export type UnSubscribeResponse = Static<typeof UnSubscribeResponse>
