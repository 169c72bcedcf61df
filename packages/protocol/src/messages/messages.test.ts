/** The messages beside search: the examples of the public standard fit, and what the clauses forbid does not. */
import { describe, expect, it } from 'vitest'
import { validator } from '../validate.ts'
import { DisabledRequest, DisabledResponse } from './disability.ts'
import { EnrolledRequest, EnrolledResponse, EnrollmentUpdatesRequest, EnrollmentUpdatesResponse } from './enrolment.ts'
import { IncomingNotifyEventRequest, NotifyEventRequest } from './notify.ts'
import { IncomingSubscribeRequest, SubscribeRequest, SubscribeResponse } from './subscribe.ts'
import { TxnStatusRequest, TxnStatusResponse } from './txn-status.ts'
import { IncomingUnSubscribeRequest, UnSubscribeRequest, UnSubscribeResponse } from './unsubscribe.ts'

const ts = '2026-02-03T09:00:00Z'
const ids = { transaction_id: 'tx-1', correlation_id: 'c-1' }
const filter = { type: 'UIN', value: 'U-44' }
const subscribeItem = {
  reference_id: 's1',
  timestamp: ts,
  subscribe_criteria: { reg_event_type: 'ns:RegistryEventType:LiveBirth', filter, notify_record_type: 'Person' },
}
const subscribe = (changes: object, criteria: object = {}) => ({
  transaction_id: 'tx-1',
  subscribe_request: [{ ...subscribeItem, subscribe_criteria: { ...subscribeItem.subscribe_criteria, ...criteria }, ...changes }],
})
const event = {
  reference_id: 'n1',
  timestamp: ts,
  data: { reg_event_type: 'REGISTER', reg_record_type: 'Person', reg_records: { '@type': 'Person' } },
}
const notify = (changes: object) => ({ transaction_id: 'tx-1', notify_event: [{ ...event, ...changes }] })
const frequency = { start_time: ts, end_time: '2027-02-03T00:00:00Z', frequency: '0 0 0 5,15 * ? *' }
const subscription = { code: 'SUB-1', status: 'subscribe', timestamp: ts }
const question = { reference_id: 'q1', txn_type: 'search', attribute_type: 'transaction_id', attribute_value: 'tx-900' }
const status = (changes: object) => ({ transaction_id: 'tx-1', txnstatus_request: { ...question, ...changes } })
const embedded = (txn_type: string, txn_status: unknown) => ({ ...ids, txnstatus_response: { txn_type, txn_status } })
const unsubscribe = { transaction_id: 'tx-1', timestamp: ts, subscription_codes: ['SUB-1', 'SUB-2'] }
const beneficiaries = [{ '@type': 'Beneficiary' }]
const answered = { reference_id: 'HS-1', timestamp: ts, status: 'succ' }

describe('what fits', () => {
  it.each([
    ['a subscription', SubscribeRequest, subscribe({ locale: 'eng' }, { frequency, filter_type: 'idtype-value' })],
    [
      'a subscription answered',
      SubscribeResponse,
      { ...ids, subscribe_response: [{ ...answered, subscriptions: [subscription] }] },
    ],
    [
      'a subscription rejected',
      SubscribeResponse,
      { ...ids, subscribe_response: [{ ...answered, status: 'rjct', status_reason_code: 'rjct.event.already_subscribed' }] },
    ],
    ['an unsubscribe', UnSubscribeRequest, unsubscribe],
    [
      'an unsubscribe answered',
      UnSubscribeResponse,
      { ...ids, timestamp: ts, status: 'succ', subscription_status: [{ code: 'SUB-1', status: 'unsubscribe' }] },
    ],
    ['an event', NotifyEventRequest, notify({ locale: 'eng' })],
    ['a status question', TxnStatusRequest, status({ locale: 'eng' })],
    [
      'a status question with a list',
      TxnStatusRequest,
      status({ attribute_type: 'reference_id_list', attribute_value: ['s1', 's2'] }),
    ],
    ['an embedded search', TxnStatusResponse, embedded('search', { ...ids, search_response: [{ ...answered, status: 'pdng' }] })],
    ['an embedded subscribe', TxnStatusResponse, embedded('subscribe', { ...ids, subscribe_response: [answered] })],
    ['an embedded unsubscribe', TxnStatusResponse, embedded('unsubscribe', { ...ids, timestamp: ts, status: 'succ' })],
    [
      'an embedded receipt',
      TxnStatusResponse,
      embedded('receipt', { transaction_id: 't', receipt_information: { beneficiaries } }),
    ],
    [
      'enrolment updates',
      EnrollmentUpdatesRequest,
      { transaction_id: 't', enrolled_updates: { receipt_type: 'enrollement', beneficiaries } },
    ],
    ['enrolment updates answered', EnrollmentUpdatesResponse, { ...ids, enrolled_response: [answered] }],
    [
      'enrolled by eq',
      EnrolledRequest,
      { transaction_id: 't', enrolled_criteria: { query: { person_identifier: { eq: 'HS-1' } } } },
    ],
    ['enrolled answered', EnrolledResponse, { ...ids, enrolled_response: [{ ...answered, enrolled_status: 'Active' }] }],
    [
      'disabled',
      DisabledRequest,
      { transaction_id: 't', disabled_criteria: { query: { 'personal_details.member_identifier': { eq: 'P' } } } },
    ],
    ['disabled answered', DisabledResponse, { ...ids, disabled_response: [{ ...answered, disabled_status: 'no' }] }],
  ])('%s', (_, schema, value) => {
    expect(validator(schema).problem(value, 'message')).toBeNull()
  })
})

describe('what does not fit', () => {
  const one = 'message.subscribe_request[0]'
  it.each([
    [
      'a subscription without event type',
      SubscribeRequest,
      subscribe({}, { reg_event_type: undefined }),
      `${one}.subscribe_criteria.reg_event_type: must be a string`,
    ],
    [
      'a frequency without end',
      SubscribeRequest,
      subscribe({}, { frequency: { start_time: ts, frequency: 'daily' } }),
      `${one}.subscribe_criteria.frequency.end_time: is required`,
    ],
    [
      'a subscription without code',
      SubscribeResponse,
      { ...ids, subscribe_response: [{ ...answered, subscriptions: [{ status: 'subscribe', timestamp: ts }] }] },
      'message.subscribe_response[0].subscriptions[0].code: is required',
    ],
    [
      'an unknown subscription status',
      UnSubscribeResponse,
      { ...ids, timestamp: ts, status: 'succ', subscription_status: [{ code: 'x', status: 'gone' }] },
      'message.subscription_status[0].status: must be one of subscribe, unsubscribe',
    ],
    [
      'a code of 100 characters',
      UnSubscribeRequest,
      { ...unsubscribe, subscription_codes: ['x'.repeat(100)] },
      'message.subscription_codes[0]: must have at most 99 characters',
    ],
    ['no codes', IncomingUnSubscribeRequest, { transaction_id: 't' }, 'message.subscription_codes: is required'],
    [
      'records that are an array in an event',
      NotifyEventRequest,
      notify({ data: { ...event.data, reg_records: [{}] } }),
      'message.notify_event[0].data.reg_records: must be an object',
    ],
    [
      'an event without data',
      IncomingNotifyEventRequest,
      { transaction_id: 't', notify_event: [{ reference_id: 'e', timestamp: ts }] },
      'message.notify_event[0].data: is required',
    ],
    [
      'an unknown txn_type',
      TxnStatusRequest,
      status({ txn_type: 'delete' }),
      'message.txnstatus_request.txn_type: must be one of search, subscribe, unsubscribe, receipt',
    ],
    [
      'a question without reference_id',
      TxnStatusRequest,
      status({ reference_id: '' }),
      'message.txnstatus_request.reference_id: must not be empty',
    ],
    [
      'updates without beneficiaries',
      EnrollmentUpdatesRequest,
      { transaction_id: 't', enrolled_updates: {} },
      'message.enrolled_updates.beneficiaries: is required',
    ],
    [
      'enrolled without query',
      EnrolledRequest,
      { transaction_id: 't', enrolled_criteria: {} },
      'message.enrolled_criteria.query: is required',
    ],
    [
      'disabled maybe',
      DisabledResponse,
      { ...ids, disabled_response: [{ ...answered, disabled_status: 'maybe' }] },
      'message.disabled_response[0].disabled_status: must be one of yes, no',
    ],
    [
      'an incoming frequency without zone',
      IncomingSubscribeRequest,
      subscribe({}, { frequency: { start_time: '2026-02-03T09:00:00' } }),
      `${one}.subscribe_criteria.frequency.start_time: must be a date-time with a time zone; the zone (Z or an offset such as +02:00) is missing`,
    ],
    [
      'an incoming subscription without timestamp',
      IncomingSubscribeRequest,
      { transaction_id: 't', subscribe_request: [{}] },
      `${one}.timestamp: is required`,
    ],
    [
      'an incoming locale of two letters',
      IncomingSubscribeRequest,
      subscribe({ locale: 'en' }),
      `${one}.locale: must be three lower-case letters (ISO 639-3)`,
    ],
  ])('%s', (_, schema, value, problem) => {
    expect(validator(schema).problem(value, 'message')).toBe(problem)
  })
})

describe('what is taken and judged later', () => {
  it.each([
    ['a subscription without reference_id', IncomingSubscribeRequest, subscribe({ reference_id: undefined })],
    ['criteria that are a text', IncomingSubscribeRequest, subscribe({ subscribe_criteria: 'x' })],
    ['a frequency without end (D29)', IncomingSubscribeRequest, subscribe({}, { frequency: { start_time: ts } })],
    ['an unsubscribe without timestamp (social)', IncomingUnSubscribeRequest, { transaction_id: 't', subscription_codes: ['a'] }],
    [
      'several records in one event (3.1)',
      IncomingNotifyEventRequest,
      notify({ data: { ...event.data, reg_records: [{}, {}] } }),
    ],
  ])('%s', (_, schema, value) => {
    expect(validator(schema).problem(value, 'message')).toBeNull()
  })
})
