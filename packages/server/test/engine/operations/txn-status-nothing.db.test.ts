/** Questions about a transaction that are not looked at, or not answered, have the shape of an answer (N4). */
import { operation, TxnStatusResponse, validator } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { failedOutcome } from '../../../../engine/src/operations/handlers.ts'
import { civilServer } from '../../civil.ts'
import { bearer, post } from '../../server.ts'

const { server, peer } = await civilServer()

const responses = validator(TxnStatusResponse)
const ID = /^[0-9a-f-]{36}$/
let sent = 0

/** A question whose header is rejected. */
async function rejected(txnstatus_request: unknown, header: object = { action: 'search' }) {
  const body = {
    header: {
      message_id: `q-${sent++}`,
      message_ts: '2026-02-03T09:15:00Z',
      action: 'txn-status',
      sender_id: peer.sender_id,
      total_count: 1,
      ...header,
    },
    message: { transaction_id: 'tx-question', ...(txnstatus_request !== undefined && { txnstatus_request }) },
  }
  const answer = await post(`${server.url}/civil/v1.0.0/registry/sync/txn/status`, body, bearer(peer))
  expect(answer.status).toBe(200)
  expect(responses.problem(answer.body.message, 'message')).toBeNull()
  return answer.body
}

const question = { reference_id: 'q-1', txn_type: 'search', attribute_type: 'transaction_id', attribute_value: 'tx-7' }
const REASON = 'header.action: must be txn-status on this path'

describe('a rejected header', () => {
  it.each([
    [{ action: 'search' }, 'rjct.action.invalid', REASON],
    [
      { action: 'destroy' },
      'rjct.action.not_supported',
      'header.action: is no action of this protocol; must be txn-status on this path',
    ],
    [{ version: '2.0.0' }, 'rjct.version.invalid', 'header.version: must be 1.0.0'],
  ])('%j: no item tells of the earlier request', async (header, code, reason) => {
    const body = await rejected(question, header)
    expect(body.header).toMatchObject({
      action: 'txn-on-status',
      status: 'rjct',
      status_reason_code: code,
      status_reason_message: reason,
      total_count: 0,
      completed_count: 0,
    })
    expect(body.message).toEqual({
      transaction_id: 'tx-question',
      correlation_id: expect.stringMatching(ID),
      txnstatus_response: {
        txn_type: 'search',
        txn_status: { transaction_id: 'tx-7', correlation_id: body.message.correlation_id, search_response: [] },
      },
    })
  })

  it('txn_type is canonical, and no reference is an item', async () => {
    const { message } = await rejected({
      ...question,
      txn_type: 'on-subscibe',
      attribute_type: 'reference_id_list',
      attribute_value: ['a', 'b', 'a'],
    })
    expect(message.txnstatus_response).toMatchObject({
      txn_type: 'subscribe',
      txn_status: { transaction_id: 'tx-question', search_response: [] },
    })
  })

  it.each([
    [undefined, 'search'],
    ['text', 'search'],
    [[], 'search'],
    [{}, 'search'],
    [{ reference_id: 'q-2', txn_type: 'receipt' }, 'receipt'],
    [{ ...question, txn_type: 'all' }, 'search'],
    [{ ...question, attribute_value: {} }, 'search'],
    [{ ...question, reference_id: 7 }, 'search'],
  ])('of a question as %j what can be read is sent back', async (asked, txn_type) => {
    const { message } = await rejected(asked)
    const { correlation_id } = message
    expect(message.txnstatus_response).toEqual({
      txn_type,
      txn_status: { transaction_id: 'tx-question', correlation_id, search_response: [] },
    })
  })
})

it('a failure of the registry on the asynchronous road has the shape of an answer as well', () => {
  const exchange = { operation: operation('txn-status'), correlation_id: 'c-1' }
  const { status, members } = failedOutcome(exchange, 'tx-1', [], { page: 1, count: 1 })
  const message = { transaction_id: 'tx-1', correlation_id: 'c-1', ...members }
  expect(status).toBe('rjct')
  expect(responses.problem(message, 'message')).toBeNull()
})
