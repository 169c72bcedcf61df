/** Messages that are refused as a whole: their encryption, their ids, their items, and how many there are. */
import { afterEach, describe, expect, it } from 'vitest'
import { ADA, civilServer } from '../../civil.ts'
import { expectFault, expectRejected } from '../../expectations.ts'

const { server, send, search: valid } = await civilServer([ADA], { limits: { batch_items: 10 } })

afterEach(() => expect(server.logged()).not.toMatch(/Okoro|B-5521|0012/))

describe('5. the message', () => {
  it('a header that lies about encryption', async () => {
    expectFault(
      await send(valid({ header: { is_msg_encrypted: true } })),
      400,
      'err.encryption.invalid',
      'header.is_msg_encrypted: must say whether message is an EncryptedMessage',
    )
  })

  it('an empty batch', async () => {
    const answer = await send(valid({ header: { total_count: 0 }, message: { search_request: [] } }))
    expectFault(answer, 400, 'err.request.bad', 'message.search_request: must have at least one item')
  })

  it.each([
    ['transaction_id empty', { message: { transaction_id: '' } }, 'message.transaction_id: '],
    ['transaction_id of 100 characters', { message: { transaction_id: 'x'.repeat(100) } }, 'message.transaction_id: '],
    ['no items', { message: { search_request: undefined } }, 'message.search_request: '],
    ['items that are text', { message: { search_request: ['x'] } }, 'message.search_request[0]: '],
    ['a timestamp without zone', { item: { timestamp: '2026-02-03T09:15:00' } }, 'message.search_request[0].timestamp: '],
    ['no timestamp', { item: { timestamp: undefined } }, 'message.search_request[0].timestamp: '],
    ['locale en', { item: { locale: 'en' } }, 'message.search_request[0].locale: '],
    ['locale ENG', { item: { locale: 'ENG' } }, 'message.search_request[0].locale: '],
    [
      'page_size 0',
      { criteria: { pagination: { page_size: 0 } } },
      'message.search_request[0].search_criteria.pagination.page_size: ',
    ],
    [
      'page_size -1 beside the criteria',
      { item: { pagination: { page_size: -1, page_number: 1 } } },
      'message.search_request[0].pagination.page_size: ',
    ],
    [
      'page_number 0',
      { criteria: { pagination: { page_size: 1, page_number: 0 } } },
      'message.search_request[0].search_criteria.pagination.page_number: ',
    ],
  ])('%s', async (_name, changes, prefix) => {
    const answer = await send(valid(changes))
    expect(answer.body.message.error.message.slice(0, prefix.length)).toBe(prefix)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })

  it.each([99])('a transaction_id of %d characters', async (length) => {
    const transaction_id = 'é'.repeat(length)
    const answer = await send(valid({ message: { transaction_id } }))
    expect(answer.body.message.transaction_id).toBe(transaction_id)
  })

  it.each([2, -1, 7])('total_count %d', async (total_count) => {
    expectRejected(
      await send(valid({ header: { total_count } })),
      'rjct.total_count.invalid',
      'header.total_count: must be the number of items in message.search_request',
    )
  })

  it.each([undefined, 0, '1', '0'])('total_count %j says nothing wrong', async (total_count) => {
    const answer = await send(valid({ header: { total_count } }))
    expect(answer.body.header.status).toBe('succ')
  })

  it('a batch over the limit', async () => {
    const [item] = valid().message.search_request
    const search_request = Array.from({ length: 11 }, (_, index) => ({ ...item, reference_id: `r-${index}` }))
    expectFault(
      await send(valid({ message: { search_request }, header: { total_count: 11 } })),
      400,
      'err.request.bad',
      'rjct.total_count.limit_exceeded: message.search_request: must have at most 10 items',
    )
  })
})
