/**
 * Tolerance: changes other spellings in received messages to the canonical ones, before validation. Each `ToleratedForms` below
 * lists what is accepted besides the documented form (public standard 3.1). An optional member is removed when it is "" or null,
 * or when it is {} and the schema or the forms name members inside it (D33). A required member that `optional` names is removed
 * in the same cases. Nothing inside a query, a filter or a record is changed. Signatures are verified over the received text,
 * which tolerance does not change.
 */
import type { TSchema } from 'typebox'
import { RequestHeader } from './envelope.ts'
import { isJsonObject, type JsonValue } from './json.ts'
import { QUERY_TYPES } from './messages/query.ts'
import { integerText } from './numbers.ts'
import {
  applyTolerance,
  type MemberValueReader,
  makeTolerancePlan,
  replaceElements,
  type TolerancePlan,
  type ToleratedForms,
} from './tolerance-plan.ts'

/** Turns an integer into a text of digits, where a text is expected. */
const readIntegerAsText: MemberValueReader = (value) => integerText(value) ?? value

const readIntegersAsTexts: MemberValueReader = (value) =>
  Array.isArray(value) ? replaceElements(value, (element) => readIntegerAsText(element) ?? element) : readIntegerAsText(value)

/** Turns a text of digits into a number, where a number is expected: "1" becomes 1. */
const readDigitsAsNumber: MemberValueReader = (value) =>
  typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value

/** Turns an object into an array of one, where an array of objects is expected. */
const readObjectAsList: MemberValueReader = (value) => (isJsonObject(value) ? [value] : value)

/** Turns a text into an array of one, where an array of texts is expected. */
const readTextAsList: MemberValueReader = (value) => (typeof value === 'string' && value !== '' ? [value] : value)

/** Treats a text as missing where an object of any form is expected. */
const readTextAsMissing: MemberValueReader = (value) => (typeof value === 'string' ? undefined : value)

/** Replaces other spellings of a word by the canonical one, compared without case. */
const makeCanonicalWordReader = (spellings: Readonly<Record<string, string>>): MemberValueReader => {
  const canonical = new Map(Object.entries(spellings))
  return (value) => (typeof value === 'string' ? (canonical.get(value.toLowerCase()) ?? value) : value)
}

const readQueryType = makeCanonicalWordReader({
  ...Object.fromEntries(QUERY_TYPES.map((word) => [word, word])),
  idtype: 'idtype-value',
})
const readTxnType = makeCanonicalWordReader({
  search: 'search',
  subscribe: 'subscribe',
  unsubscribe: 'unsubscribe',
  receipt: 'receipt',
  subscibe: 'subscribe',
  'on-search': 'search',
  'on-subscribe': 'subscribe',
  'on-subscibe': 'subscribe',
  'on-unsubscribe': 'unsubscribe',
})

/** Reads the type of a receipt: the part after the last ":", in the spellings of N15. */
const readReceiptType: MemberValueReader = (value) =>
  typeof value === 'string' ? readReceiptTypeWord(value.slice(value.lastIndexOf(':') + 1).trim()) : value
const readReceiptTypeWord = makeCanonicalWordReader({
  enrollement: 'enrollement',
  enrollment: 'enrollement',
  enrolment: 'enrollement',
  enrollement_status_change: 'enrollement_status_change',
  enrollment_status_change: 'enrollement_status_change',
  enrolment_status_change: 'enrollement_status_change',
  register: 'register',
  payment: 'payment',
  deregister: 'deregister',
})

const TOLERATED_ENVELOPE: ToleratedForms = { spellings: { headers: 'header' } }

const TOLERATED_HEADER: ToleratedForms = {
  spellings: { is_encrypted: 'is_msg_encrypted' },
  readings: {
    total_count: readDigitsAsNumber,
    completed_count: readDigitsAsNumber,
    meta: readTextAsMissing,
    status: makeCanonicalWordReader({ ack: 'rcvd', acknowledged: 'rcvd', request: 'rcvd', success: 'succ', part: 'succ' }),
  },
  optional: ['total_count', 'completed_count', 'status', 'status_reason_code', 'status_reason_message'],
}

/**
 * The forms accepted in the header of an answer that is unsigned, or whose signature is not verified. The header may lack
 * sender_id, because we know whom we asked.
 */
const TOLERATED_UNSIGNED_HEADER: ToleratedForms = {
  ...TOLERATED_HEADER,
  optional: [...(TOLERATED_HEADER.optional ?? []), 'sender_id'],
}

/** The forms accepted in `consent` and `authorize`. */
const TOLERATED_CONSENT: ToleratedForms = { inside: { purpose: { spellings: { refUri: 'ref_uri' } } } }

/** Members that every message may have in another form, with the functions that read them. */
const EVERY_MESSAGE_READERS: Readonly<Record<string, MemberValueReader>> = { transaction_id: readIntegerAsText }

/** The forms of messages that are accepted besides the documented one, by the name of the message. */
const TOLERATED_MESSAGES: Readonly<Record<string, ToleratedForms>> = {
  SearchRequest: {
    readings: { search_request: readObjectAsList },
    inside: {
      search_request: {
        optional: ['pagination'],
        inside: {
          search_criteria: {
            readings: { query_type: readQueryType },
            inside: { consent: TOLERATED_CONSENT, authorize: TOLERATED_CONSENT },
          },
          // `pagination` is documented inside `search_criteria`; it is also accepted here, beside `search_criteria` (D23).
          pagination: { optional: ['page_number'] },
        },
      },
    },
  },
  SearchResponse: {
    readings: { search_response: readObjectAsList },
    inside: { search_response: { inside: { data: { readings: { reg_records: readObjectAsList } } } } },
  },
  SubscribeRequest: {
    readings: { subscribe_request: readObjectAsList },
    inside: {
      subscribe_request: {
        inside: {
          subscribe_criteria: {
            // `response_entity` is a spelling of the social kind, `reg_sub_type` one of an older protocol (N3).
            spellings: { response_entity: 'notify_record_type', reg_sub_type: 'reg_event_type' },
            readings: { filter_type: readQueryType },
            inside: { authorize: TOLERATED_CONSENT },
          },
        },
      },
    },
  },
  SubscribeResponse: {
    readings: { subscribe_response: readObjectAsList },
    inside: { subscribe_response: { inside: { subscriptions: { spellings: { subscription_code: 'code' } } } } },
  },
  UnSubscribeRequest: {
    spellings: { timesstamp: 'timestamp', sunscription_codes: 'subscription_codes', subscription_code: 'subscription_codes' },
    readings: { subscription_codes: readTextAsList },
    optional: ['timestamp'],
  },
  UnSubscribeResponse: {
    spellings: { timesatmp: 'timestamp' },
    inside: { subscription_status: { spellings: { subscription_code: 'code' } } },
  },
  NotifyEventRequest: {
    readings: { notify_event: readObjectAsList },
    // `response_entity` is an older name of `reg_record_type`.
    inside: { notify_event: { inside: { data: { spellings: { response_entity: 'reg_record_type' } } } } },
  },
  TxnStatusRequest: {
    inside: { txnstatus_request: { readings: { txn_type: readTxnType, attribute_value: readIntegersAsTexts } } },
  },
  TxnStatusResponse: { inside: { txnstatus_response: { readings: { txn_type: readTxnType } } } },
  EnrolledRequest: { inside: { enrolled_criteria: { inside: { consent: TOLERATED_CONSENT, authorize: TOLERATED_CONSENT } } } },
  DisabledRequest: { inside: { disabled_criteria: { inside: { consent: TOLERATED_CONSENT, authorize: TOLERATED_CONSENT } } } },
  EnrollmentUpdatesRequest: {
    spellings: { receipt_information: 'enrolled_updates' },
    inside: { enrolled_updates: { readings: { receipt_type: readReceiptType, beneficiaries: readObjectAsList } } },
  },
}

const TOLERANCE_PLANS_BY_SCHEMA = new WeakMap<TSchema, TolerancePlan>()
const ENVELOPE_PLAN = makeTolerancePlan({}, TOLERATED_ENVELOPE)
const HEADER_PLAN = makeTolerancePlan(RequestHeader, TOLERATED_HEADER)
const UNSIGNED_ANSWER_PLAN = makeTolerancePlan(RequestHeader, TOLERATED_UNSIGNED_HEADER)

/** A message as `operations.ts` describes it. */
export interface NamedMessage {
  readonly name: string
  readonly schema: TSchema
}

/** The envelope with canonical names of members. The values of the members are not changed. */
export function tolerateEnvelope(envelope: JsonValue): JsonValue {
  return applyTolerance(ENVELOPE_PLAN, envelope)
}

/** Returns the header of a request or callback with canonical spellings. */
export function tolerateHeader(header: JsonValue): JsonValue {
  return applyTolerance(HEADER_PLAN, header)
}

/**
 * Returns the header of a synchronous answer whose signature is not verified, with canonical spellings and without an empty
 * sender_id.
 */
export function tolerateUnsignedAnswer(header: JsonValue): JsonValue {
  return applyTolerance(UNSIGNED_ANSWER_PLAN, header)
}

/** Returns the request of an operation with canonical spellings. */
export function tolerateMessage(operation: { readonly request: NamedMessage }, message: JsonValue): JsonValue {
  return tolerateNamedMessage(operation.request, message)
}

/**
 * Returns any message, such as a reply or callback, with canonical spellings. The argument is not changed; without changes, the
 * same object is returned. A value in no accepted form stays as it is; validation may refuse it.
 */
export function tolerateNamedMessage({ name, schema }: NamedMessage, message: JsonValue): JsonValue {
  let plan = TOLERANCE_PLANS_BY_SCHEMA.get(schema)
  if (plan === undefined) {
    const rows = Object.hasOwn(TOLERATED_MESSAGES, name) ? TOLERATED_MESSAGES[name] : undefined
    plan = makeTolerancePlan(schema, { ...rows, readings: { ...EVERY_MESSAGE_READERS, ...rows?.readings } })
    TOLERANCE_PLANS_BY_SCHEMA.set(schema, plan)
  }
  return applyTolerance(plan, message)
}
