/** Forms of questions about a transaction: synchronous, asynchronous and encrypted. */
import { describe, expect, it } from 'vitest'
import { accepted, answerExchange, byIdentifier, callbacksTo, searchFor, withReceiver } from '../../asynchronous.ts'
import { LOOPBACK } from '../../deliveries.ts'
import { expectFault } from '../../expectations.ts'
import { encrypted, opened, publishedKey, sealingPeer, signedBody } from '../../sealing.ts'
import { bearer, post } from '../../server.ts'
import { person, question, statusServer } from '../../txn-status.ts'

const { server, peer, url, ask, search } = await statusServer()
const run = (correlation_id: string) => answerExchange(server, correlation_id)

describe('a question', () => {
  it.each([
    ['search', 'search'],
    ['on-search', 'search'],
    ['On-Search', 'search'],
    ['SEARCH', 'search'],
    ['subscibe', 'subscribe'],
    ['on-subscribe', 'subscribe'],
    ['on-unsubscribe', 'unsubscribe'],
    ['receipt', 'receipt'],
  ])('of txn_type %s is one of %s (N4, D13, D14, 3.1)', async (txn_type, canonical) => {
    const { message } = await ask('transaction_id', 'tx-nobody', { more: { txn_type } })
    expect(message.txnstatus_response.txn_type).toBe(canonical)
  })

  it.each([
    ['a txn_type', { txn_type: 'payment' }, 'txn_type: must be one of search, subscribe, unsubscribe, receipt'],
    [
      'an attribute_type',
      { attribute_type: 'name' },
      'attribute_type: must be one of transaction_id, reference_id_list, correlation_id, subscription_code_list',
    ],
    ['an object', { attribute_value: { eq: 'x' } }, 'attribute_value: must be a string or an array'],
    ['100 characters', { attribute_value: 'x'.repeat(100) }, 'attribute_value: must have at most 99 characters'],
    ['an empty value', { attribute_value: ['x', ''] }, 'attribute_value[1]: must not be empty'],
    ['a value too many', { attribute_value: Array(10_001).fill('x') }, 'attribute_value: must have at most 10000 elements'],
    ['no reference_id', { reference_id: undefined }, 'reference_id: is required'],
    ['a locale', { locale: 'english' }, 'locale: must be three lower-case letters (ISO 639-3)'],
  ])('that breaks the format is refused on both roads: %s', async (_name, more, text) => {
    for (const path of ['sync/txn/status', 'txn/status']) {
      const answer = await post(url(path), question(peer, 'transaction_id', 'tx-1', more), bearer(peer))
      expectFault(answer, 400, 'err.request.bad', `message.txnstatus_request.${text}`)
    }
  })

  it('without a txn_type is about a search of the sender, or is refused', async () => {
    const sent = await search([byIdentifier('UIN', 'U1')])
    const more = { txn_type: undefined }
    const { message } = await ask('transaction_id', sent.transaction_id, { more })
    expect(message.txnstatus_response).toMatchObject({ txn_type: 'search', txn_status: { transaction_id: sent.transaction_id } })
    const answer = await post(url('sync/txn/status'), question(peer, 'transaction_id', 'tx-nobody', more), bearer(peer))
    expectFault(answer, 400, 'err.request.bad', 'message.txnstatus_request.txn_type: is required')
  })

  it('without a txn_type finds nothing on the asynchronous road where there is no search', async () => {
    const asked = question(peer, 'transaction_id', 'tx-nobody', { txn_type: undefined })
    const correlation_id = await accepted(server, peer, asked, 'txn/status')
    await run(correlation_id)
    expect(callbacksTo(peer.receiver).at(-1)?.envelope.message).toMatchObject({
      correlation_id,
      txnstatus_response: {
        txn_type: 'search',
        txn_status: { search_response: [{ status: 'rjct', status_reason_code: 'rjct.reference_id.invalid' }] },
      },
    })
  })

  it('on the asynchronous road is called back at txn/on-status', async () => {
    const sent = await search([byIdentifier('UIN', 'U1')])
    await run(sent.correlation_id)
    const before = peer.receiver.received.length
    const correlation_id = await accepted(server, peer, question(peer, 'transaction_id', sent.transaction_id), 'txn/status')
    await run(correlation_id)
    const [callback, ...others] = callbacksTo(peer.receiver).slice(before)
    expect(others).toEqual([])
    expect(callback?.path).toBe('/registry/txn/on-status')
    expect(callback?.envelope).toMatchObject({
      header: { action: 'txn-on-status', status: 'succ', total_count: 1, completed_count: 1 },
      message: {
        transaction_id: 'tx-question',
        correlation_id,
        txnstatus_response: {
          txn_type: 'search',
          txn_status: { ...sent, search_response: [{ status: 'succ', data: { reg_records: [person(1)] } }] },
        },
      },
    })
    // A question is no transaction that can be asked about.
    expect((await ask('correlation_id', correlation_id)).header.status).toBe('rjct')
  })

  it('about an encrypted request is answered encrypted, however it was asked', async () => {
    const sealing = await sealingPeer(server, 'sealing.example', { decrypts: 'P-256', settings: { outgoing: [LOOPBACK] } })
    const taking = await withReceiver(server, sealing)
    const plain = searchFor(taking, [byIdentifier('UIN', 'U1')])
    const body = signedBody(sealing, encrypted(plain, await publishedKey(server, 'RSA-OAEP-256')))
    const correlation_id = await accepted(server, taking, body)
    await run(correlation_id)
    const asked = signedBody(sealing, question(taking, 'correlation_id', correlation_id))
    const answer = await post(url('sync/txn/status'), asked, bearer(taking))
    expect(JSON.stringify(answer.body)).not.toContain('Okoro')
    expect(opened(answer, sealing).txnstatus_response.txn_status.search_response).toMatchObject([
      { status: 'succ', data: { reg_records: [person(1)] } },
    ])
    const later = await accepted(
      server,
      taking,
      signedBody(sealing, question(taking, 'correlation_id', correlation_id)),
      'txn/status',
    )
    await run(later)
    const [called] = callbacksTo(taking.receiver).slice(-1)
    expect(called?.envelope.header).toMatchObject({ action: 'txn-on-status', is_msg_encrypted: true })
  })
})
