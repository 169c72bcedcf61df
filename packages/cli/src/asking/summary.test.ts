import { expect, test } from 'vitest'
import { hasFurtherPages, itemText, summariseMessage } from './summary.ts'

const header = { sender_id: 'civil.example', message_id: 'm-1', status: 'succ' }
const items = (message: object) => summariseMessage({ header, message, signed: true }).items.map(itemText)
const search = (...search_response: object[]) => ({ transaction_id: 't', search_response })

test.each<[string, object, readonly string[]]>([
  ['records', search({ reference_id: '1', status: 'succ', data: { reg_records: [{}, {}] } }), ['item 1: succ, 2 records']],
  [
    'a page',
    search({
      reference_id: '1',
      status: 'succ',
      data: { reg_records: [{}] },
      pagination: { page_number: 2, page_size: 1, total_count: 2 },
    }),
    ['item 1: succ, 1 of 2 records, page 2'],
  ],
  [
    'a rejection',
    search({ reference_id: '7', status: 'rjct', status_reason_code: 'rjct.x', status_reason_message: 'no\n' }),
    ['item 7: rjct, rjct.x: no\\u000a'],
  ],
  [
    'events',
    { notify_event: [{ reference_id: '1', data: { reg_event_type: 'Death', reg_records: {} } }] },
    ['item 1: Death, 1 record'],
  ],
  [
    'what a status embeds',
    { txnstatus_response: { txn_type: 'search', txn_status: search({ reference_id: '1', status: 'pdng' }) } },
    ['item 1: pdng'],
  ],
  ['an unsubscribe', { transaction_id: 't', status: 'succ' }, []],
])('%s', (_name, message, texts) => expect(items(message)).toEqual(texts))

test('an item goes on until its last page', () => {
  const page = (page_number: number) => {
    const [item] = summariseMessage({
      header,
      message: search({ pagination: { page_number, page_size: 10, total_count: 20 } }),
      signed: true,
    }).items
    return item !== undefined && hasFurtherPages(item)
  }
  expect([1, 2, 3].map(page)).toEqual([true, false, false])
})

test('a rejected header speaks for itself', () => {
  const rejected = { ...header, status: 'rjct', status_reason_code: 'rjct.version.invalid' }
  expect(summariseMessage({ header: rejected, signed: false })).toMatchObject({
    status: 'rjct',
    code: 'rjct.version.invalid',
    transaction_id: null,
    items: [],
  })
})
