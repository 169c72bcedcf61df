/**
 * All messages of the protocol. OPERATIONS has a row for each request that a requester sends to a registry, CALLBACKS for
 * each message with results or events that a registry sends to a requester. Routes, action checks, tolerance, validation,
 * grants and the OpenAPI documents are made from these rows. Spec "Endpoints"; N1 (headers), N8 to N10, D8, D11, D31,
 * 2.7 (paths), 3.1 (action spellings).
 */
import { DisabledRequest, DisabledResponse, IncomingDisabledRequest } from './messages/disability.ts'
import {
  EnrolledRequest,
  EnrolledResponse,
  EnrollmentUpdatesRequest,
  EnrollmentUpdatesResponse,
  IncomingEnrolledRequest,
  IncomingEnrollmentUpdatesRequest,
} from './messages/enrolment.ts'
import { IncomingNotifyEventRequest, NotifyEventRequest, NotifyMeta } from './messages/notify.ts'
import { IncomingSearchRequest, SearchRequest, SearchResponse } from './messages/search.ts'
import { IncomingSubscribeRequest, SubscribeRequest, SubscribeResponse } from './messages/subscribe.ts'
import { IncomingTxnStatusRequest, TxnStatusRequest, TxnStatusResponse } from './messages/txn-status.ts'
import { IncomingUnSubscribeRequest, UnSubscribeRequest, UnSubscribeResponse } from './messages/unsubscribe.ts'
import { type Callback, type Message, message, type Operation } from './operation.ts'

const searchReply = message('SearchResponse', SearchResponse, { items: 'search_response' })
const subscribeReply = message('SubscribeResponse', SubscribeResponse, { items: 'subscribe_response' })
const unsubscribeReply = message('UnSubscribeResponse', UnSubscribeResponse, { bulk: [['subscription_status']] })
const txnStatusReply = message('TxnStatusResponse', TxnStatusResponse, { bulk: [['txnstatus_response', 'txn_status']] })
const disabilityRequestMessage = message('DisabledRequest', DisabledRequest, { incoming: IncomingDisabledRequest })
const disabilityActions = ['get_disability_info', 'check_disability_status']

/** Makes a `Callback`. `more` has the members that differ from the usual ones. */
const callback = (name: string, reply: Message, more: Partial<Callback> = {}): Callback => ({
  name,
  action: name,
  action_aliases: [],
  path: `registry/${name}`,
  header: 'callback',
  meta: null,
  message: reply,
  ...more,
})

const ON_SEARCH = callback('on-search', searchReply, {
  action_aliases: ['search', 'get_disability_info', 'check_disability_status', 'verify', 'register', 'notify'],
})
const ON_SUBSCRIBE = callback('on-subscribe', subscribeReply, { header: 'request' })
const ON_UNSUBSCRIBE = callback('on-unsubscribe', unsubscribeReply, { header: 'request' })
const TXN_ON_STATUS = callback('txn-on-status', txnStatusReply, {
  action_aliases: ['on-txn-status', 'txn/on-status', 'txn_on_status', 'on-status'],
  path: 'registry/txn/on-status',
})
/** A notification. The registry sends it when an event matches a subscription (spec "Events"), without a request. */
const NOTIFY = callback(
  'notify',
  message('NotifyEventRequest', NotifyEventRequest, {
    incoming: IncomingNotifyEventRequest,
    items: 'notify_event',
    counted: true,
  }),
  { meta: NotifyMeta },
)

/** The messages that a registry sends to a requester. */
export const CALLBACKS: readonly Callback[] = [ON_SEARCH, ON_SUBSCRIBE, ON_UNSUBSCRIBE, TXN_ON_STATUS, NOTIFY]

/** The members that all questions about one person share. Only some kinds answer them, and only synchronously. */
const PERSON_QUESTION_DEFAULTS = {
  action: 'search',
  async_paths: [],
  reply_action: 'on-search',
  reply_also_bare: false,
  callback: null,
  notifies: null,
  codes: null,
  writes: false,
  kinds: 'own',
} as const satisfies Partial<Operation>

/** The operations that a registry may serve. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'search',
    theme: 'Search',
    summary: 'Find records by identifier or by other query forms (spec "SearchRequest").',
    action: 'search',
    action_aliases: [],
    sync_paths: ['registry/sync/search'],
    async_paths: ['registry/search'],
    request: message('SearchRequest', SearchRequest, { incoming: IncomingSearchRequest, items: 'search_request', counted: true }),
    reply: searchReply,
    reply_action: 'on-search',
    reply_also_bare: false,
    callback: ON_SEARCH,
    notifies: null,
    codes: 'search',
    writes: false,
    kinds: 'all',
  },
  {
    name: 'subscribe',
    theme: 'Events',
    summary: 'Register an interest in events (spec "SubscribeRequest").',
    action: 'subscribe',
    action_aliases: [],
    sync_paths: [],
    async_paths: ['registry/subscribe'],
    request: message('SubscribeRequest', SubscribeRequest, {
      incoming: IncomingSubscribeRequest,
      items: 'subscribe_request',
      counted: true,
    }),
    reply: subscribeReply,
    reply_action: 'on-subscribe',
    reply_also_bare: false,
    callback: ON_SUBSCRIBE,
    notifies: NOTIFY,
    codes: 'subscribe',
    writes: true,
    kinds: 'all',
  },
  {
    name: 'unsubscribe',
    theme: 'Events',
    summary: 'End subscriptions by their codes (spec "UnSubscribeRequest").',
    action: 'unsubscribe',
    action_aliases: [],
    sync_paths: [],
    async_paths: ['registry/unsubscribe'],
    request: message('UnSubscribeRequest', UnSubscribeRequest, {
      incoming: IncomingUnSubscribeRequest,
      bulk: [['subscription_codes'], ['sunscription_codes'], ['subscription_code']],
    }),
    reply: unsubscribeReply,
    reply_action: 'on-unsubscribe',
    reply_also_bare: false,
    callback: ON_UNSUBSCRIBE,
    notifies: null,
    codes: 'unsubscribe',
    writes: true,
    kinds: 'all',
  },
  {
    name: 'txn-status',
    theme: 'Status',
    summary: 'Ask how an earlier request stands (spec "TxnStatusRequest").',
    action: 'txn-status',
    action_aliases: ['txn/status', 'txn_status', 'status'],
    sync_paths: ['registry/sync/txn/status'],
    async_paths: ['registry/txn/status'],
    request: message('TxnStatusRequest', TxnStatusRequest, {
      incoming: IncomingTxnStatusRequest,
      bulk: [['txnstatus_request', 'attribute_value']],
    }),
    reply: txnStatusReply,
    reply_action: 'txn-on-status',
    reply_also_bare: false,
    callback: TXN_ON_STATUS,
    notifies: null,
    codes: null,
    writes: false,
    kinds: 'all',
  },
  {
    name: 'enrolment-updates',
    theme: 'Enrolment',
    summary: 'Send enrolments that changed to a beneficiary registry (spec "Enrolment messages", D8).',
    action: 'notify',
    action_aliases: ['register'],
    sync_paths: [
      'registry/enrollments/updates',
      'registry/sync/enrollment/updates',
      'registry/enrollment/updates',
      'registry/sync/enrollments/updates',
    ],
    async_paths: [],
    request: message('EnrollmentUpdatesRequest', EnrollmentUpdatesRequest, {
      incoming: IncomingEnrollmentUpdatesRequest,
      batch: ['enrolled_updates', 'beneficiaries'],
      bulk: [
        ['enrolled_updates', 'beneficiaries'],
        ['receipt_information', 'beneficiaries'],
      ],
    }),
    reply: { name: 'EnrollmentUpdatesResponse', schema: EnrollmentUpdatesResponse, items: 'enrolled_response' },
    reply_action: 'notify',
    reply_also_bare: true,
    callback: null,
    notifies: null,
    codes: null,
    writes: true,
    kinds: 'own',
  },
  {
    ...PERSON_QUESTION_DEFAULTS,
    name: 'enrolled',
    theme: 'Enrolment',
    summary: 'Ask whether a person is enrolled in a programme (spec "Endpoints", N9).',
    action_aliases: ['enrolled'],
    sync_paths: ['registry/sync/enrolled', 'ibr/sync/enrolled'],
    request: message('EnrolledRequest', EnrolledRequest, { incoming: IncomingEnrolledRequest }),
    reply: { name: 'EnrolledResponse', schema: EnrolledResponse, items: 'enrolled_response' },
    reply_also_bare: true,
  },
  {
    ...PERSON_QUESTION_DEFAULTS,
    name: 'enrolment-status',
    theme: 'Enrolment',
    summary: 'Ask whether a person remains enrolled (spec "Endpoints", N10).',
    action: 'enrollementstatus',
    action_aliases: ['enrollmentstatus', 'enrolmentstatus', 'search', 'enrolled', 'check-enrollment'],
    sync_paths: [
      'registry/sync/check-enrollment',
      'registry/check-enrollment',
      'ess/sync/check-enrollment',
      'sp/sync/check-enrollment',
      'sync/check-enrollment',
    ],
    request: message('EnrolledRequest', EnrolledRequest, { incoming: IncomingEnrolledRequest }),
    reply: { name: 'EnrolledResponse', schema: EnrolledResponse, items: 'enrolled_response' },
    reply_action: 'txn-on-status',
  },
  {
    ...PERSON_QUESTION_DEFAULTS,
    name: 'disabled',
    theme: 'Disability',
    summary: 'Ask whether a person is registered as disabled (public standard 2.7).',
    action_aliases: disabilityActions,
    sync_paths: ['registry/sync/disabled', 'registry/sync/get-disability-status'],
    request: disabilityRequestMessage,
    reply: { name: 'DisabledResponse', schema: DisabledResponse, items: 'disabled_response' },
  },
  {
    ...PERSON_QUESTION_DEFAULTS,
    name: 'disability-details',
    theme: 'Disability',
    summary: "Ask for the details of a person's disability (public standard 2.7).",
    action_aliases: disabilityActions,
    sync_paths: ['registry/sync/get-disability-details', 'registry/sync/get-disability-info'],
    request: disabilityRequestMessage,
    reply: searchReply,
    codes: 'search',
  },
  {
    ...PERSON_QUESTION_DEFAULTS,
    name: 'disability-support',
    theme: 'Disability',
    summary: 'Ask which support a person with a disability has (public standard 2.7).',
    action_aliases: disabilityActions,
    sync_paths: ['registry/sync/get-disability-support'],
    request: disabilityRequestMessage,
    reply: searchReply,
    codes: 'search',
  },
]

/** The operation with this name. @throws RangeError there is none; names come from code, never from a peer */
export function operation(name: string): Operation {
  const found = OPERATIONS.find((row) => row.name === name)
  if (!found) throw new RangeError(`there is no operation ${name}`)
  return found
}

/** The operations of a kind: those of all kinds, and its own. */
export function operationsOf(
  kind: { readonly operations: readonly string[] },
  rows: readonly Operation[] = OPERATIONS,
): Operation[] {
  return rows.filter((row) => row.kinds === 'all' || kind.operations.includes(row.name))
}

/** True when `action` is the action of this operation or callback, or another accepted spelling of it. */
export function actionMeans(row: Operation | Callback, action: string): boolean {
  return row.action === action || row.action_aliases.includes(action)
}

const KNOWN_ACTIONS = new Set([...OPERATIONS, ...CALLBACKS].flatMap((row) => [row.action, ...row.action_aliases]))

/** True when some operation or callback has this action. On a path of another operation it is wrong, but not unknown (N18). */
export function isKnownAction(action: string): boolean {
  return KNOWN_ACTIONS.has(action)
}
