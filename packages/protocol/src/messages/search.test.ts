import { describe, expect, it } from 'vitest'
import { validator } from '../validate.ts'
import { IncomingSearchRequest, SearchRequest, SearchResponse } from './search.ts'

const documented = validator(SearchRequest)
const incoming = validator(IncomingSearchRequest)

const criteria = { query_type: 'idtype-value', query: { type: 'UIN', value: 'U-1' } }
const item = { reference_id: 'r1', timestamp: '2026-02-03T09:00:00+02:00', search_criteria: criteria }
const batch = (changes: object, other: object = {}) => ({
  transaction_id: 'tx-1',
  search_request: [{ ...item, ...changes }],
  ...other,
})

describe('SearchRequest', () => {
  it.each([
    ['the least', {}],
    ['a locale', { locale: 'eng' }],
    ['an identifier of each type', { search_criteria: { ...criteria, query: { type: 'X', value: 7 } } }],
    ['an identifier object', { search_criteria: { ...criteria, query: { type: 'X', value: { a: 1 } } } }],
    ['a page', { search_criteria: { ...criteria, pagination: { page_size: 10 } } }],
    ['the largest page number', { search_criteria: { ...criteria, pagination: { page_size: 1, page_number: 2147483647 } } }],
    ['a sort', { search_criteria: { ...criteria, sort: [{ attribute_name: 'sex', sort_order: 'desc' }] } }],
    ['consent', { search_criteria: { ...criteria, consent: { ts: '2026-02-03T09:00:00Z', purpose: { text: 'x' } } } }],
    ['an expression', { search_criteria: { query_type: 'expression', query: { type: 'x', value: { expression: {} } } } }],
    [
      'an expression list',
      {
        search_criteria: {
          query_type: 'predicate',
          query: [{ seq_num: 1, expression1: { attribute_name: 'age', operator: 'lt', attribute_value: '30' } }],
        },
      },
    ],
  ])('takes %s', (_, changes) => {
    expect(documented.problem(batch(changes), 'message')).toBeNull()
    expect(incoming.problem(batch(changes), 'message')).toBeNull()
  })
})

/** The faults that refuse the whole request: the first row of the table of faults, and nothing else. */
describe('an incoming search is refused as a whole', () => {
  const refused: [string, unknown, string][] = [
    ['no transaction_id', { search_request: [] }, 'message.transaction_id: is required'],
    ['an empty transaction_id', batch({}, { transaction_id: '' }), 'message.transaction_id: must not be empty'],
    [
      'a transaction_id of 100',
      batch({}, { transaction_id: 'x'.repeat(100) }),
      'message.transaction_id: must have at most 99 characters',
    ],
    ['no items', { transaction_id: 'tx' }, 'message.search_request: is required'],
    ['items that are no array', batch({}, { search_request: {} }), 'message.search_request: must be an array'],
    ['an item that is no object', batch({}, { search_request: ['x'] }), 'message.search_request[0]: must be an object'],
    [
      'no timestamp',
      { transaction_id: 'tx', search_request: [{ reference_id: 'r1' }] },
      'message.search_request[0].timestamp: is required',
    ],
    [
      'a timestamp without zone',
      batch({ timestamp: '2026-02-03T09:00:00' }),
      'message.search_request[0].timestamp: must be a date-time with a time zone; the zone (Z or an offset such as +02:00) is missing',
    ],
    [
      'a zone by name',
      batch({ timestamp: '2026-02-03T09:00:00Z[Asia/Tokyo]' }),
      'message.search_request[0].timestamp: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z',
    ],
    [
      'a day that is none',
      batch({ timestamp: '2026-02-30T09:00:00Z' }),
      'message.search_request[0].timestamp: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z',
    ],
    ['locale en', batch({ locale: 'en' }), 'message.search_request[0].locale: must be three lower-case letters (ISO 639-3)'],
    ['locale ENG', batch({ locale: 'ENG' }), 'message.search_request[0].locale: must be three lower-case letters (ISO 639-3)'],
    [
      'page_size 0',
      batch({ pagination: { page_size: 0 } }),
      'message.search_request[0].pagination.page_size: must be at least 1',
    ],
    [
      'page_size -1 in the criteria',
      batch({ search_criteria: { pagination: { page_size: -1 } } }),
      'message.search_request[0].search_criteria.pagination.page_size: must be at least 1',
    ],
    [
      'a page without page_size',
      batch({ pagination: { page_number: 1 } }),
      'message.search_request[0].pagination.page_size: is required',
    ],
    ['a page that is no object', batch({ pagination: 'x' }), 'message.search_request[0].pagination: must be an object'],
    [
      'page_number 0',
      batch({ pagination: { page_size: 1, page_number: 0 } }),
      'message.search_request[0].pagination.page_number: must be at least 1',
    ],
    [
      'a consent timestamp without zone',
      batch({ search_criteria: { consent: { ts: '2026-02-03T09:00:00' } } }),
      'message.search_request[0].search_criteria.consent.ts: must be a date-time with a time zone; the zone (Z or an offset such as +02:00) is missing',
    ],
    [
      'an authorize timestamp that is a word',
      batch({ search_criteria: { authorize: { ts: 'now' } } }),
      'message.search_request[0].search_criteria.authorize.ts: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z',
    ],
  ]
  it.each(refused)('for %s', (_, value, problem) => {
    expect(incoming.problem(value, 'message')).toBe(problem)
  })
})

describe('an incoming search is taken, and its item judged later', () => {
  it.each([
    ['no reference_id', { reference_id: undefined }],
    ['a reference_id of 100', { reference_id: 'x'.repeat(100) }],
    ['no criteria', { search_criteria: undefined }],
    ['criteria that are no object', { search_criteria: 'x' }],
    ['criteria that are an array', { search_criteria: [] }],
    ['no query', { search_criteria: {} }],
    ['an unknown query_type', { search_criteria: { ...criteria, query_type: 'sql' } }],
    ['an unknown sort order', { search_criteria: { ...criteria, sort: [{ sort_order: 'up' }] } }],
    ['a page_size above int32', { search_criteria: { ...criteria, pagination: { page_size: 2 ** 31 } } }],
    ['a page_size beyond all pages', { pagination: { page_size: 1e30 } }],
    ['a consent that is a text', { search_criteria: { ...criteria, consent: 'x' } }],
  ])('with %s', (_, changes) => {
    expect(incoming.problem(batch(changes), 'message')).toBeNull()
  })

  it('of a batch of none', () => {
    expect(incoming.problem({ transaction_id: 'tx', search_request: [] }, 'message')).toBeNull()
  })
})

describe('SearchResponse', () => {
  const reply = validator(SearchResponse)
  const answer = (changes: object) => ({
    transaction_id: 'tx-1',
    correlation_id: 'c-1',
    search_response: [{ reference_id: 'r1', timestamp: '2026-02-03T09:00:00Z', status: 'succ', ...changes }],
  })

  it.each([
    ['no hit', { data: { reg_records: [] }, pagination: { page_size: 10, page_number: 1, total_count: 0 } }],
    ['a rejected item', { status: 'rjct', status_reason_code: 'rjct.sort.invalid', status_reason_message: 'x' }],
    ['an item that had no reference_id', { reference_id: '' }],
  ])('may say %s', (_, changes) => {
    expect(reply.problem(answer(changes), 'message')).toBeNull()
  })

  it.each([
    ['an unknown status', { status: 'done' }, 'status'],
    ['a code of another place', { status_reason_code: 'rjct.version.invalid' }, 'status_reason_code'],
    ['a reason of 1000 characters', { status_reason_message: 'x'.repeat(1000) }, 'status_reason_message'],
    ['records that are no array', { data: { reg_records: {} } }, 'data.reg_records'],
    ['a page without total_count', { pagination: { page_size: 1, page_number: 1 } }, 'pagination.total_count'],
    ['an empty locale', { locale: '' }, 'locale'],
    ['null', { data: null }, 'data'],
  ])('never says %s', (_, changes, member) => {
    const problem = reply.problem(answer(changes), 'message')
    expect(problem?.startsWith(`message.search_response[0].${member}: `), String(problem)).toBe(true)
  })

  it('never has a correlation_id with other characters', () => {
    const problem = reply.problem({ ...answer({}), correlation_id: 'c_1' }, 'message')
    expect(problem).toMatch(/^message\.correlation_id: /)
  })
})
