/** The status of transactions that the sender does not have: the same, whether nobody has them or somebody else. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { answerExchange, byIdentifier } from '../../asynchronous.ts'
import { statusServer } from '../../txn-status.ts'

const { server, peer, other, ask, search } = await statusServer()
const run = (correlation_id: string) => answerExchange(server, correlation_id)

describe('what the sender does not have', () => {
  const NOTHING = 'names no transaction of this type that the sender has with this registry'
  const unknownItem = (reference_id: string) => ({
    reference_id,
    timestamp: expect.stringMatching(/Z$/),
    status: 'rjct',
    status_reason_code: 'rjct.reference_id.invalid',
    status_reason_message: `txnstatus_request.attribute_value: ${NOTHING}`,
  })

  it('is answered alike, whether it is unknown or somebody else’s', async () => {
    const own = `o-${randomUUID()}`
    const sent = await search([{ ...byIdentifier('UIN', 'U1'), reference_id: own }])
    await run(sent.correlation_id)
    const waiting = `w-${randomUUID()}`
    await search([{ ...byIdentifier('UIN', 'U1'), reference_id: waiting }])
    const unknown = randomUUID()
    for (const [type, foreign, by, namespace] of [
      ['transaction_id', sent.transaction_id, other, 'civil'],
      ['correlation_id', sent.correlation_id, other, 'civil'],
      ['reference_id_list', own, other, 'civil'],
      ['reference_id_list', waiting, other, 'civil'],
      ['transaction_id', sent.transaction_id, peer, 'social'],
      ['correlation_id', sent.correlation_id, peer, 'social'],
      ['reference_id_list', own, peer, 'social'],
      ['reference_id_list', waiting, peer, 'social'],
    ] as const) {
      const about = async (value: string) => {
        const { header, message } = await ask(type, value, { by, namespace })
        const text = JSON.stringify({ header: { ...header, message_id: '', message_ts: '' }, message })
        return text
          .replaceAll(value, 'VALUE')
          .replaceAll(message.correlation_id, 'OWN')
          .replace(/"timestamp":"[^"]*"/g, '')
      }
      expect(await about(foreign), `${type} ${namespace}`).toBe(await about(unknown))
    }
  })

  it('is a rejected search that names what was asked, as N4 has it', async () => {
    const { header, message } = await ask('transaction_id', 'tx-nobody')
    expect(header).toMatchObject({
      action: 'txn-on-status',
      status: 'rjct',
      status_reason_message: `txnstatus_request: ${NOTHING}`,
      total_count: 1,
      completed_count: 1,
    })
    expect(message.txnstatus_response).toEqual({
      txn_type: 'search',
      txn_status: { transaction_id: 'tx-nobody', correlation_id: message.correlation_id, search_response: [unknownItem('q-1')] },
    })
    const byCorrelation = (await ask('correlation_id', 'c-900')).message.txnstatus_response.txn_status
    expect(byCorrelation).toMatchObject({ transaction_id: 'tx-question', correlation_id: 'c-900' })
    const byReferences = (await ask('reference_id_list', ['x', 'y', 'x'])).message.txnstatus_response.txn_status
    expect(byReferences.search_response).toEqual([unknownItem('x'), unknownItem('y')])
    expect((await ask('reference_id_list', [])).message.txnstatus_response.txn_status.search_response).toEqual([
      unknownItem('q-1'),
    ])
  })

  it.each([
    ['subscription_code_list', ['SUB-1']],
    ['transaction_id', 'x\u0001'],
    ['correlation_id', "' or true --"],
    ['correlation_id', '__proto__'],
    ['reference_id_list', ['%']],
  ])('is nothing: %s %j', async (type, value) => {
    const { header, message } = await ask(type, value)
    expect(header.status).toBe('rjct')
    expect(message.txnstatus_response.txn_status.search_response[0]).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.reference_id.invalid',
    })
  })

  it.each(['subscribe', 'unsubscribe', 'receipt'])('is a search, asked for as %s', async (txn_type) => {
    const sent = await search([byIdentifier('UIN', 'U1')])
    await run(sent.correlation_id)
    const { header, message } = await ask('transaction_id', sent.transaction_id, { more: { txn_type } })
    expect(header.status).toBe('rjct')
    expect(message.txnstatus_response).toMatchObject({
      txn_type,
      txn_status: { search_response: [{ status: 'rjct', status_reason_code: 'rjct.reference_id.invalid' }] },
    })
  })
})
