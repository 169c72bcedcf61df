/** An invented request and reply for each operation, with record types and event types of a kind. Public standard 2.2 to 2.7. */
import { notifiedRecord } from '../attributes/notified-record.ts'
import type { AckCode } from '../codes.ts'
import { PROTOCOL_VERSION, REG_TYPE_PREFIX } from '../common.ts'
import type { Kind } from '../kinds/kind.ts'
import type { Callback, Operation } from '../operation.ts'
import { OPERATIONS } from '../operations.ts'
import type { JsonObject } from './components.ts'
import { type QueryExample, queryExamples } from './query-examples.ts'
import type { ExampleOf } from './readers.ts'
import { sampleIdentifier, sampleRecord } from './sample-record.ts'

/** The messages of one operation, without envelopes: `exampleRequest` and `exampleReply` add these. */
export interface OperationExample {
  readonly request: JsonObject
  readonly reply: JsonObject
}

const requestTime = '2026-02-03T09:15:00.000Z'
const replyTime = '2026-02-03T09:15:00.120Z'
const transaction_id = 'tx-900'
const correlation_id = '5f0c2b7e-0d52-4c6e-9a54-30c1f2d9a001'
const exampleReplyIds = { transaction_id, correlation_id }
const examplePage = { page_size: 10, page_number: 1 }

const exampleRegType = (kind: Kind) => `${REG_TYPE_PREFIX}${kind.reg_type.name}`
const exampleEventType = (kind: Kind) => kind.event_types[0]?.name ?? 'REGISTER'
const personIdentifierValue = (kind: Kind) => sampleIdentifier(kind, kind.record_types[0]).value

function searchReply(kind: Kind, records: readonly unknown[] = [sampleRecord(kind, kind.record_types[0])]): JsonObject {
  const data = {
    version: PROTOCOL_VERSION,
    reg_type: exampleRegType(kind),
    reg_record_type: kind.record_types[0].emitted,
    reg_records: records,
  }
  const pagination = { ...examplePage, total_count: records.length }
  const item = { reference_id: 'r1', timestamp: replyTime, status: 'succ', data, pagination, locale: 'eng' }
  return { ...exampleReplyIds, search_response: [item] }
}

function searchExample(kind: Kind): OperationExample {
  const asks = { query_type: 'idtype-value', query: sampleIdentifier(kind, kind.record_types[0]) } as const
  return { request: searchRequest(kind, asks), reply: searchReply(kind) }
}

function searchRequest(kind: Kind, asks: Pick<QueryExample, 'query_type' | 'query'>): JsonObject {
  const search_criteria = {
    version: PROTOCOL_VERSION,
    reg_type: exampleRegType(kind),
    reg_record_type: kind.record_types[0].emitted,
    query_type: asks.query_type,
    query: asks.query,
    pagination: examplePage,
  }
  const item = { reference_id: 'r1', timestamp: requestTime, search_criteria, locale: 'eng' }
  return { transaction_id, search_request: [item] }
}

function subscribeExample(kind: Kind): OperationExample {
  const [recordType] = kind.record_types
  const wanted = {
    reg_type: exampleRegType(kind),
    reg_event_type: exampleEventType(kind),
    filter_type: 'idtype-value',
    filter: sampleIdentifier(kind, recordType),
    notify_record_type: recordType.emitted,
  }
  const subscription = { ...wanted, code: 'SUB-AB12', status: 'subscribe', timestamp: replyTime }
  return {
    request: {
      transaction_id,
      subscribe_request: [{ reference_id: 's1', timestamp: requestTime, subscribe_criteria: wanted, locale: 'eng' }],
    },
    reply: {
      ...exampleReplyIds,
      subscribe_response: [
        {
          reference_id: 's1',
          timestamp: replyTime,
          status: 'succ',
          subscriptions: [subscription],
          pagination: { page_size: 1, page_number: 1, total_count: 1 },
        },
      ],
    },
  }
}

const unsubscribeExample = (): OperationExample => ({
  request: { transaction_id, timestamp: requestTime, subscription_codes: ['SUB-AB12'] },
  reply: {
    ...exampleReplyIds,
    timestamp: replyTime,
    status: 'succ',
    subscription_status: [{ code: 'SUB-AB12', status: 'unsubscribe' }],
  },
})

const txnStatusExample = (kind: Kind): OperationExample => ({
  request: {
    transaction_id: 'tx-950',
    txnstatus_request: {
      reference_id: 'q1',
      txn_type: 'search',
      attribute_type: 'transaction_id',
      attribute_value: transaction_id,
    },
  },
  reply: {
    ...exampleReplyIds,
    transaction_id: 'tx-950',
    txnstatus_response: { txn_type: 'search', txn_status: searchReply(kind) },
  },
})

const enrolmentUpdatesExample = (kind: Kind): OperationExample => ({
  request: {
    transaction_id,
    enrolled_updates: { receipt_type: exampleEventType(kind), beneficiaries: [sampleRecord(kind, kind.record_types[0])] },
  },
  reply: {
    ...exampleReplyIds,
    enrolled_response: [{ reference_id: personIdentifierValue(kind), timestamp: replyTime, status: 'succ' }],
  },
})

const enrolledRequest = (kind: Kind, query: JsonObject): JsonObject => ({
  transaction_id,
  enrolled_criteria: { query_type: 'expression', response_entity: kind.record_types[0].emitted, query },
})

const personQuery = (kind: Kind): JsonObject => ({ person_identifier: { eq: personIdentifierValue(kind) } })

/**
 * Makes the example of an operation that asks whether a person is enrolled. The `enrolled_status` of the answer differs between
 * operations (D9).
 */
const enrolledExample =
  (enrolled_status: string) =>
  (kind: Kind): OperationExample => ({
    request: enrolledRequest(kind, personQuery(kind)),
    reply: {
      ...exampleReplyIds,
      enrolled_response: [{ reference_id: personIdentifierValue(kind), timestamp: replyTime, status: 'succ', enrolled_status }],
    },
  })

/** The example of an operation about disabilities. The three operations ask the same question, and their answers differ. */
const disabilityExample =
  (reply: (kind: Kind) => JsonObject) =>
  (kind: Kind): OperationExample => ({
    request: {
      transaction_id,
      disabled_criteria: {
        query_type: 'expression',
        query: { 'personal_details.member_identifier': { eq: personIdentifierValue(kind) } },
      },
    },
    reply: reply(kind),
  })

/** For each operation, the function that makes an example of its request and its reply. */
const EXAMPLE_MAKERS_BY_OPERATION: Readonly<Record<string, (kind: Kind) => OperationExample>> = {
  search: searchExample,
  subscribe: subscribeExample,
  unsubscribe: unsubscribeExample,
  'txn-status': txnStatusExample,
  'enrolment-updates': enrolmentUpdatesExample,
  enrolled: enrolledExample('yes'),
  'enrolment-status': enrolledExample('Active'),
  disabled: disabilityExample((kind) => ({
    ...exampleReplyIds,
    disabled_response: [
      { reference_id: personIdentifierValue(kind), timestamp: replyTime, status: 'succ', disabled_status: 'yes' },
    ],
  })),
  'disability-details': disabilityExample((kind) =>
    searchReply(kind, [{ impairment_type: '1', impairment_level: '3', impairment_cause: '2', age_on_set: '2' }]),
  ),
  'disability-support': disabilityExample((kind) =>
    searchReply(kind, [{ human_assistance: { type: 'mobility', frequency: '2', support_status: '1' } }]),
  ),
}

/** The example of an operation. @throws RangeError there is none */
export function exampleOfOperation(kind: Kind, operationName: string): OperationExample {
  const make = Object.hasOwn(EXAMPLE_MAKERS_BY_OPERATION, operationName) ? EXAMPLE_MAKERS_BY_OPERATION[operationName] : undefined
  if (!make) throw new RangeError(`there is no example of operation ${operationName}`)
  return make(kind)
}

const requestHeader = {
  version: PROTOCOL_VERSION,
  message_id: 'm-31',
  message_ts: requestTime,
  sender_id: 'spmis.demo',
  total_count: 1,
  is_msg_encrypted: false,
}

/**
 * The header of a reply. It has the required members of a request header and of a callback header, so it fits every reply (N1,
 * D7).
 */
const replyHeader = {
  version: PROTOCOL_VERSION,
  message_id: 'm-77',
  message_ts: replyTime,
  status: 'succ',
  total_count: 1,
  completed_count: 1,
  sender_id: 'registry.demo',
  receiver_id: 'spmis.demo',
  is_msg_encrypted: false,
}

/** The ids of sender and receiver, and the identifier of the person, in the examples. */
export const inventedExampleIds = (kind: Kind): ExampleOf => ({
  sender_id: requestHeader.sender_id,
  receiver_id: replyHeader.sender_id,
  identifier_value: personIdentifierValue(kind),
})

/** The example request of an operation, in its envelope. An asynchronous one has an address for the callback. */
export function exampleRequest(kind: Kind, operation: Operation, way: 'sync' | 'async'): JsonObject {
  return exampleEnvelope(operation, way, exampleOfOperation(kind, operation.name).request)
}

interface NamedExampleRequest {
  /** Our own name for an example request, unique among the examples of an operation. */
  readonly name: string
  readonly summary: string
  readonly message: JsonObject
}

/** Operations whose query has several forms, with an example request for each form. */
const EXAMPLE_REQUESTS_BY_OPERATION: Readonly<Record<string, (kind: Kind) => readonly NamedExampleRequest[]>> = {
  search: (kind) =>
    queryExamples(kind).map((example) => {
      const { name, summary } = example
      return { name, summary, message: searchRequest(kind, example) }
    }),
  enrolled: (kind) => [
    ...personExampleRequests(kind),
    {
      name: 'programme',
      summary: 'In one programme',
      message: enrolledRequest(kind, {
        ...personQuery(kind),
        'programme_identifier.programme.programme_identifier': { eq: 'PRG-01' },
      }),
    },
  ],
  'enrolment-status': personExampleRequests,
}

/** A question about a person in its two forms: with an identifier, and with a comparison (D10). */
function personExampleRequests(kind: Kind): readonly NamedExampleRequest[] {
  const spelledOut = { attribute_name: 'person_identifier', operator: 'eq', attribute_value: personIdentifierValue(kind) }
  return [
    { name: 'person', summary: 'By an identifier of the person', message: enrolledRequest(kind, personQuery(kind)) },
    { name: 'comparison', summary: 'By a comparison that is spelled out', message: enrolledRequest(kind, spelledOut) },
  ]
}

/** The example requests of an operation in all forms, by name; null when there is only one form. */
export function exampleRequests(kind: Kind, operation: Operation, way: 'sync' | 'async'): JsonObject | null {
  const requests = Object.hasOwn(EXAMPLE_REQUESTS_BY_OPERATION, operation.name)
    ? EXAMPLE_REQUESTS_BY_OPERATION[operation.name]
    : undefined
  if (requests === undefined) return null
  const named = requests(kind).map(({ name, summary, message }) => {
    return [name, { summary, value: exampleEnvelope(operation, way, message) }]
  })
  return Object.fromEntries(named)
}

function exampleEnvelope(operation: Operation, way: 'sync' | 'async', message: JsonObject): JsonObject {
  const path = way === 'async' ? operation.callback?.path : undefined
  const sender_uri = path === undefined ? {} : { sender_uri: `https://spmis.demo/${path}` }
  return { header: { ...requestHeader, action: operation.action, ...sender_uri }, message }
}

/** The example reply of an operation, in its envelope. */
export function exampleReply(kind: Kind, operation: Operation): JsonObject {
  const { reply } = exampleOfOperation(kind, operation.name)
  const bare = operation.reply_also_bare ? reply : {}
  return { header: { ...replyHeader, action: operation.reply_action }, message: reply, ...bare }
}

/** An example callback in its envelope: a notification, or the example reply of the operation that it answers. */
export function exampleCallback(kind: Kind, callback: Callback): JsonObject {
  const answered = OPERATIONS.find((operation) => operation.callback === callback)
  const message = answered === undefined ? notifyExampleMessage(kind) : exampleOfOperation(kind, answered.name).reply
  const meta = callback.meta === null ? {} : { meta: EXAMPLE_NOTIFY_META }
  return { header: { ...replyHeader, action: callback.action, ...meta }, message }
}

const EXAMPLE_NOTIFY_META = {
  subscriptions: { e1: ['SUB-AB12'] },
  presence: { e1: { 'SUB-AB12': 'entered' } },
  record_version: { e1: 4711 },
  occurred_at: { e1: requestTime },
  recorded_at: { e1: replyTime },
  sequence: 1,
}

function notifyExampleMessage(kind: Kind): JsonObject {
  const [recordType] = kind.record_types
  const data = {
    reg_type: exampleRegType(kind),
    reg_event_type: exampleEventType(kind),
    reg_record_type: recordType.emitted,
    reg_records: notifiedRecord(kind, recordType, sampleRecord(kind, recordType)),
  }
  return { transaction_id, notify_event: [{ reference_id: 'e1', timestamp: replyTime, data, locale: 'eng' }] }
}

/** The example of an acknowledgement, which answers asynchronous requests and callbacks. */
export const exampleAck = { message: { ack_status: 'ACK', timestamp: replyTime, correlation_id } }

/** The example of an error answer with this code. */
export function exampleError(code: AckCode, message: string): JsonObject {
  const error = { code, message }
  return { message: { ack_status: 'ERR', timestamp: replyTime, correlation_id, error }, errors: [error] }
}
