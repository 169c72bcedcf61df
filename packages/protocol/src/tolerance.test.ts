import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { processorTime } from '../../core/test/processor-time.ts'
import { type JsonValue, parseJson } from './json.ts'
import { CALLBACKS, OPERATIONS, operation } from './operations.ts'
import { tolerateEnvelope, tolerateHeader, tolerateMessage, tolerateNamedMessage } from './tolerance.ts'
import { validator } from './validate.ts'

const criteria = { query_type: 'idtype-value', query: { type: 'UIN', value: '' } }
const item = { reference_id: 'r1', timestamp: '2026-02-03T09:15:00Z', search_criteria: criteria }
const search = operation('search')
const tolerateSearch = (message: JsonValue) => tolerateMessage(search, message)

/** The item that the tolerant reader of a search makes of these members. */
const tolerateItem = (members: { [member: string]: JsonValue }) => {
  const message = tolerateSearch({ transaction_id: 't', search_request: [{ ...item, ...members }] })
  return (message as { search_request: { [member: string]: JsonValue }[] }).search_request[0]
}
const tolerateCriteria = (members: { [member: string]: JsonValue }) =>
  tolerateItem({ search_criteria: { ...criteria, ...members } })?.search_criteria

describe('a message that is canonical already', () => {
  test('is given back itself', () => {
    const message: JsonValue = {
      transaction_id: 't',
      search_request: [{ ...item, search_criteria: { ...criteria, pagination: { page_size: 5 } }, locale: 'eng' }],
    }
    expect(tolerateSearch(message)).toBe(message)
    const header: JsonValue = { message_id: 'm', total_count: 1, meta: {}.constructor === Object ? { a: 1 } : {} }
    expect(tolerateHeader(header)).toBe(header)
    const envelope: JsonValue = { header, message }
    expect(tolerateEnvelope(envelope)).toBe(envelope)
  })

  test('shares what does not change with what it becomes', () => {
    const untouched: JsonValue = { ...item }
    const message: JsonValue = { transaction_id: 't', search_request: [untouched, { ...item, locale: '' }] }
    const result = tolerateSearch(message) as { search_request: JsonValue[] }
    expect(result.search_request[0]).toBe(untouched)
    expect(result.search_request[1]).toEqual(item)
    expect(message.search_request).toHaveLength(2)
    expect((message.search_request as JsonValue[])[1]).toEqual({ ...item, locale: '' })
  })
})

describe('every message', () => {
  test.each<[JsonValue, JsonValue]>([
    [900, '900'],
    [-0, '0'],
    [9007199254740992, '9007199254740992'],
    ['t-900', 't-900'],
    ['', ''],
    [1.5, 1.5],
    [1e20, '100000000000000000000'],
    [1e21, 1e21],
    [null, null],
    [true, true],
  ])('transaction_id %s becomes %s', (given, expected) => {
    for (const row of OPERATIONS) {
      expect(tolerateMessage(row, { transaction_id: given })).toEqual({ transaction_id: expected })
    }
  })
})

describe('search', () => {
  test('a single object stands for an array of one', () => {
    expect(tolerateSearch({ transaction_id: 't', search_request: { ...item, locale: '' } })).toEqual({
      transaction_id: 't',
      search_request: [item],
    })
    for (const other of ['one', 1, null, true, '']) {
      expect(tolerateSearch({ search_request: other })).toEqual({ search_request: other })
    }
  })

  test.each<{ [member: string]: JsonValue }>([
    { locale: '' },
    { locale: null },
    { pagination: {} },
    { pagination: '' },
    { pagination: null },
  ])('%j beside the criteria is absent', (members) => {
    expect(tolerateItem(members)).toEqual(item)
  })

  test.each<{ [member: string]: JsonValue }>([
    { version: '' },
    { reg_type: '' },
    { reg_record_type: null },
    { reg_event_type: '' },
    { response_entity: '' },
    { sort: '' },
    { sort: null },
    { pagination: {} },
    { consent: '' },
    { consent: {} },
    { consent: { ts: '', purpose: { code: '', text: null } } },
    { authorize: {} },
  ])('%j in the criteria is absent', (members) => {
    expect(tolerateCriteria(members)).toEqual(criteria)
  })

  test.each<{ [member: string]: JsonValue }>([
    { reference_id: '' },
    { timestamp: '' },
    { timestamp: null },
    { locale: 'en' },
    { locale: {} },
    { locale: [] },
    { pagination: { page_size: '' } },
    { pagination: { page_size: 0 } },
    { pagination: [] },
  ])('%j is left for validation', (members) => {
    expect(tolerateItem(members)).toEqual({ ...item, ...members })
  })

  test('pagination stays where it was given, its optional page_number dropped when empty', () => {
    expect(tolerateItem({ pagination: { page_size: 5, page_number: '' } })).toEqual({ ...item, pagination: { page_size: 5 } })
    expect(tolerateCriteria({ pagination: { page_size: 5, page_number: null } })).toEqual({
      ...criteria,
      pagination: { page_size: 5 },
    })
  })

  test('the members of a sort are taken as optional, an empty sort stays', () => {
    const sort = [{ attribute_name: '', sort_order: 'asc' }, { attribute_name: 'sex' }]
    expect(tolerateCriteria({ sort })).toEqual({ ...criteria, sort: [{ sort_order: 'asc' }, { attribute_name: 'sex' }] })
    expect(tolerateCriteria({ sort: [] })).toEqual({ ...criteria, sort: [] })
  })

  test('a query is never touched', () => {
    const query: JsonValue = [{ seq_num: '', expression1: { attribute_name: 'a', attribute_value: null }, condition: '' }]
    expect(tolerateCriteria({ query, query_type: 'idtype' })).toEqual({ query, query_type: 'idtype-value' })
    expect(tolerateCriteria({ query, query_type: 'Predicate' })).toEqual({ query, query_type: 'predicate' })
    expect(tolerateCriteria({ query_type: '' })).toEqual({ ...criteria, query_type: '' })
  })

  test('what is required and empty is refused by the schema afterwards', () => {
    const { problem } = validator(search.request.incoming)
    const problemOf = (message: JsonValue) => problem(tolerateSearch(message), 'message')
    expect(problemOf({ transaction_id: 7, search_request: { ...item, locale: '', pagination: {} } })).toBeNull()
    expect(problemOf({ transaction_id: '', search_request: [item] })).toBe('message.transaction_id: must not be empty')
    expect(problemOf({ transaction_id: 't', search_request: [{ ...item, timestamp: '' }] })).toMatch(
      /^message\.search_request\[0\]\.timestamp: must be a date-time with a time zone/,
    )
    expect(problemOf({ transaction_id: 't', search_request: [{ ...item, locale: 'en' }] })).toBe(
      'message.search_request[0].locale: must be three lower-case letters (ISO 639-3)',
    )
  })
})

describe('header', () => {
  test.each<[{ [member: string]: JsonValue }, { [member: string]: JsonValue }]>([
    [{ total_count: '1' }, { total_count: 1 }],
    [{ total_count: '-1' }, { total_count: -1 }],
    [{ total_count: 0 }, { total_count: 0 }],
    [{ total_count: '' }, {}],
    [{ total_count: null }, {}],
    [{ total_count: '1.5' }, { total_count: '1.5' }],
    [{ total_count: 'many' }, { total_count: 'many' }],
    [{ total_count: {} }, { total_count: {} }],
    [{ completed_count: '' }, {}],
    [{ completed_count: '3' }, { completed_count: 3 }],
    [{ meta: '' }, {}],
    [{ meta: null }, {}],
    [{ meta: 'text' }, {}],
    [{ meta: [] }, { meta: [] }],
    [{ meta: { a: '' } }, { meta: { a: '' } }],
    [{ is_encrypted: true }, { is_msg_encrypted: true }],
    [{ is_encrypted: true, is_msg_encrypted: false }, { is_msg_encrypted: false }],
    [{ is_encrypted: true, is_msg_encrypted: '' }, { is_msg_encrypted: true }],
    [{ is_encrypted: '' }, {}],
    [{ version: '', receiver_id: null, sender_uri: '' }, {}],
    [{ receiver_id: {} }, { receiver_id: {} }],
    [
      { message_id: '', message_ts: '', action: '', sender_id: '' },
      { message_id: '', message_ts: '', action: '', sender_id: '' },
    ],
    [{ status: 'Success', status_reason_code: '', status_reason_message: null }, { status: 'succ' }],
    [{ status: 'ack' }, { status: 'rcvd' }],
    [{ status: 'pdng' }, { status: 'pdng' }],
    [{ status: '' }, {}],
    [{ status: null }, {}],
    [{ stranger: '' }, { stranger: '' }],
  ])('%j becomes %j', (given, expected) => {
    expect(tolerateHeader(given)).toEqual(expected)
  })
})

test('an envelope may call its header headers', () => {
  expect(tolerateEnvelope({ headers: { a: '' }, message: {} })).toEqual({ header: { a: '' }, message: {} })
  expect(tolerateEnvelope({ headers: { a: 1 }, header: { b: 2 } })).toEqual({ header: { b: 2 } })
})

describe('the other messages', () => {
  const rows = new Map(
    [...OPERATIONS.flatMap((row) => [row.request, row.reply]), ...CALLBACKS.map((row) => row.message)].map((row) => [
      row.name,
      row,
    ]),
  )

  test.each<[string, JsonValue, JsonValue]>([
    ['UnSubscribeRequest', { timesstamp: 'now', sunscription_codes: 'S1' }, { timestamp: 'now', subscription_codes: ['S1'] }],
    ['UnSubscribeRequest', { timestamp: '', timesstamp: 'now' }, { timestamp: 'now' }],
    ['UnSubscribeRequest', { subscription_code: ['S1', 'S2'] }, { subscription_codes: ['S1', 'S2'] }],
    ['UnSubscribeRequest', { subscription_code: ['S2'], subscription_codes: ['S1'] }, { subscription_codes: ['S1'] }],
    ['UnSubscribeRequest', { subscriptionCode: ['S1'] }, { subscriptionCode: ['S1'] }],
    ['UnSubscribeRequest', { timestamp: '', subscription_codes: '' }, { subscription_codes: '' }],
    ['UnSubscribeRequest', { subscription_codes: ['S1', ''] }, { subscription_codes: ['S1', ''] }],
    ['UnSubscribeResponse', { timesatmp: 'now', status_reason_code: '' }, { timestamp: 'now' }],
    ['UnSubscribeResponse', { subscription_status: [{ subscription_code: 'S' }] }, { subscription_status: [{ code: 'S' }] }],
    ['SubscribeRequest', { subscribe_request: { locale: '' } }, { subscribe_request: [{}] }],
    [
      'SubscribeRequest',
      { subscribe_request: [{ subscribe_criteria: { filter_type: 'IDTYPE', frequency: {}, filter: { value: '' } } }] },
      { subscribe_request: [{ subscribe_criteria: { filter_type: 'idtype-value', filter: { value: '' } } }] },
    ],
    [
      'SubscribeRequest',
      { subscribe_request: [{ subscribe_criteria: { response_entity: 'Group', reg_sub_type: 'REGISTER' } }] },
      { subscribe_request: [{ subscribe_criteria: { notify_record_type: 'Group', reg_event_type: 'REGISTER' } }] },
    ],
    [
      'SubscribeRequest',
      { subscribe_request: [{ subscribe_criteria: { response_entity: 'Group', notify_record_type: 'Member' } }] },
      { subscribe_request: [{ subscribe_criteria: { notify_record_type: 'Member' } }] },
    ],
    [
      'NotifyEventRequest',
      { notify_event: [{ data: { response_entity: 'Group', reg_records: {} } }] },
      { notify_event: [{ data: { reg_record_type: 'Group', reg_records: {} } }] },
    ],
    [
      'SubscribeResponse',
      { subscribe_response: [{ subscriptions: [{ subscription_code: 'S1' }] }] },
      { subscribe_response: [{ subscriptions: [{ code: 'S1' }] }] },
    ],
    [
      'SearchResponse',
      { search_response: { data: { version: '', reg_records: { name: '' } }, locale: null } },
      { search_response: [{ data: { reg_records: [{ name: '' }] } }] },
    ],
    [
      'NotifyEventRequest',
      { notify_event: { data: { reg_records: { a: '' } } } },
      { notify_event: [{ data: { reg_records: { a: '' } } }] },
    ],
    [
      'TxnStatusRequest',
      { txnstatus_request: { attribute_value: 900, locale: '' } },
      { txnstatus_request: { attribute_value: '900' } },
    ],
    [
      'TxnStatusRequest',
      { txnstatus_request: { attribute_value: [1, 'b'] } },
      { txnstatus_request: { attribute_value: ['1', 'b'] } },
    ],
    ['TxnStatusRequest', { txnstatus_request: { txn_type: 'subscibe' } }, { txnstatus_request: { txn_type: 'subscribe' } }],
    ['TxnStatusRequest', { txnstatus_request: { txn_type: 'On-Search' } }, { txnstatus_request: { txn_type: 'search' } }],
    ['TxnStatusRequest', { txnstatus_request: { txn_type: 'UNSUBSCRIBE' } }, { txnstatus_request: { txn_type: 'unsubscribe' } }],
    ['TxnStatusRequest', { txnstatus_request: { txn_type: 'receipt' } }, { txnstatus_request: { txn_type: 'receipt' } }],
    [
      'TxnStatusResponse',
      { txnstatus_response: { txn_type: 'on-subscribe' } },
      { txnstatus_response: { txn_type: 'subscribe' } },
    ],
    [
      'EnrollmentUpdatesRequest',
      { receipt_information: { beneficiaries: { member: '' } } },
      { enrolled_updates: { beneficiaries: [{ member: '' }] } },
    ],
    ['EnrolledRequest', { enrolled_criteria: { query_type: '', query: { a: '' } } }, { enrolled_criteria: { query: { a: '' } } }],
  ])('%s: %j', (name, given, expected) => {
    const row = rows.get(name)
    expect(row && tolerateNamedMessage(row, given)).toEqual(expected)
  })

  test('a message without rows of its own, whatever its name, meets only what holds for all', () => {
    const { schema } = operation('disabled').request
    expect(tolerateNamedMessage({ name: 'constructor', schema: { ...schema } }, { transaction_id: 7 })).toEqual({
      transaction_id: '7',
    })
  })
})

describe('hostile shapes', () => {
  test('names of a prototype are plain members', () => {
    const text = '{"__proto__":{"transaction_id":"x"},"constructor":1,"transaction_id":7,"search_request":{"__proto__":""}}'
    const result = tolerateSearch(parseJson(text)) as { search_request: object[] }
    expect(Object.keys(result)).toEqual(['__proto__', 'constructor', 'transaction_id', 'search_request'])
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
    expect(Object.keys(result.search_request[0] ?? {})).toEqual(['__proto__'])
  })

  test('any value is taken, none is changed, and tolerating twice is tolerating once', () => {
    const names = ['transaction_id', 'search_request', 'search_criteria', 'pagination', 'consent', 'locale', 'sort', 'query']
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom<JsonValue>('', null, 0, 7, 1e21, true, 'x'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, '__proto__', 'constructor'), tie('value'), { noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(value, (given) => {
        const before = structuredClone(given)
        for (const tolerate of [tolerateSearch, tolerateHeader, tolerateEnvelope]) {
          const once = tolerate(given)
          expect(given).toEqual(before)
          expect(tolerate(once)).toBe(once)
        }
      }),
    )
  })
})

test('10,000 canonical items cost next to nothing', () => {
  const message: JsonValue = { transaction_id: 't', search_request: Array.from({ length: 10_000 }, () => ({ ...item })) }
  const start = processorTime()
  expect(tolerateSearch(message)).toBe(message)
  expect(processorTime() - start).toBeLessThan(2_500)
})
