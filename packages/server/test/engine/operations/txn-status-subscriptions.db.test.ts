/** The status of requests to subscribe and to unsubscribe. */
import { randomUUID } from 'node:crypto'
import { setParticipantStatus } from '@rollcall/participants/store/participants'
import { describe, expect, it } from 'vitest'
import { accepted, answerExchange } from '../../asynchronous.ts'
import { about, called, codeOf, subscribeFor, subscribingServer, unsubscribeFor } from '../../subscribing.ts'
import { askStatus } from '../../txn-status.ts'

const { server, newPeer } = await subscribingServer()
const peer = await newPeer()
const other = await newPeer()

const uin = (): string => `U-${randomUUID()}`
const ask = (txn_type: string, attribute_type: string, value: unknown, by = peer, namespace = 'civil') =>
  askStatus(server, by, attribute_type, value, { namespace, more: { txn_type } })
const statusOf = async (...question: Parameters<typeof ask>) => (await ask(...question)).message.txnstatus_response.txn_status
const NOTHING = { search_response: [{ status: 'rjct', status_reason_code: 'rjct.reference_id.invalid' }] }

describe('a subscribe', () => {
  it('is embedded as it was answered, whatever names it', async () => {
    const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`]
    const item = (reference_id: string, criteria: object) => ({
      reference_id,
      timestamp: new Date().toISOString(),
      subscribe_criteria: criteria,
    })
    const body = subscribeFor(peer, [item(a, about(uin())), item(b, about(uin(), { reg_event_type: 'x' }))])
    const { message } = await called(server, peer, body)
    const [made, rejected] = message.subscribe_response
    const { code } = made.subscriptions[0]
    for (const txn_type of ['subscribe', 'subscibe', 'on-subscribe']) {
      for (const [attribute_type, value] of [
        ['transaction_id', body.message.transaction_id],
        ['correlation_id', message.correlation_id],
      ] as const) {
        const { header, message: answer } = await ask(txn_type, attribute_type, value)
        expect(answer.txnstatus_response).toEqual({ txn_type: 'subscribe', txn_status: message })
        expect(header).toMatchObject({ status: 'succ', total_count: 2, completed_count: 2 })
      }
    }
    expect(await statusOf('subscribe', 'reference_id_list', [b, a])).toEqual({ ...message, subscribe_response: [rejected, made] })
    // For a code, the item that made it.
    expect(await statusOf('subscribe', 'subscription_code_list', [code, 'NO-SUCH'])).toEqual({
      ...message,
      subscribe_response: [made],
    })
    // Its answer says how it was answered, also after it has ended.
    await called(server, peer, unsubscribeFor(peer, [code]))
    expect(await statusOf('subscribe', 'subscription_code_list', code)).toMatchObject({
      subscribe_response: [{ subscriptions: [{ code, status: 'subscribe' }] }],
    })
  })

  it('that waits is received', async () => {
    const id = await accepted(server, peer, subscribeFor(peer, [about(uin()), about(uin())]), 'subscribe')
    expect((await statusOf('subscribe', 'correlation_id', id)).subscribe_response).toEqual([
      { reference_id: 's-0', timestamp: expect.any(String), status: 'rcvd' },
      { reference_id: 's-1', timestamp: expect.any(String), status: 'rcvd' },
    ])
    await answerExchange(server, id)
  })
})

describe('an unsubscribe', () => {
  it('is embedded as it was answered, whatever names it', async () => {
    const code = await codeOf(server, peer, about(uin()))
    const body = unsubscribeFor(peer, [code, 'NO-SUCH'])
    const { message } = await called(server, peer, body)
    expect(message).toMatchObject({ status: 'succ', subscription_status: [{ code, status: 'unsubscribe' }] })
    for (const [attribute_type, value] of [
      ['transaction_id', body.message.transaction_id],
      ['correlation_id', message.correlation_id],
      ['subscription_code_list', ['NO-SUCH', code]],
    ] as const) {
      const { header, message: answer } = await ask('on-unsubscribe', attribute_type, value)
      expect(answer.txnstatus_response).toEqual({ txn_type: 'unsubscribe', txn_status: message })
      expect(header).toMatchObject({ status: 'succ', total_count: 1, completed_count: 1 })
    }
  })

  it('that ended nothing is embedded as well', async () => {
    const { message } = await called(server, peer, unsubscribeFor(peer, ['NO-SUCH']))
    expect(message.status_reason_code).toBe('rjct.subscription_code.invalid')
    expect(await statusOf('unsubscribe', 'correlation_id', message.correlation_id)).toEqual(message)
  })

  it('that waits is received, and one of a sender that was disabled is rejected', async () => {
    const leaving = await newPeer()
    const id = await accepted(server, leaving, unsubscribeFor(leaving, ['NO-SUCH']), 'unsubscribe')
    const waiting = await statusOf('unsubscribe', 'correlation_id', id, leaving)
    expect(waiting).toEqual({
      transaction_id: expect.any(String),
      correlation_id: id,
      timestamp: expect.any(String),
      status: 'rcvd',
    })
    await setParticipantStatus(server.database.db, leaving.sender_id, 'disabled')
    server.clock.pass(1_000)
    await answerExchange(server, id)
    await setParticipantStatus(server.database.db, leaving.sender_id, 'active')
    server.clock.pass(1_000)
    expect(await statusOf('unsubscribe', 'correlation_id', id, leaving)).toEqual({
      ...waiting,
      timestamp: expect.any(String),
      status: 'rjct',
      status_reason_message:
        'not answered: the sender was disabled or its grant had changed when it was to be; it may be sent again under a new message_id',
    })
  })

  it('whose answer cannot be read any more is only known to have been received', async () => {
    const { message } = await called(server, peer, unsubscribeFor(peer, ['NO-SUCH']))
    await server.database.db.pool.query(`update delivery set body = '' where correlation_id = $1`, [message.correlation_id])
    expect(await statusOf('unsubscribe', 'correlation_id', message.correlation_id)).toEqual({
      transaction_id: message.transaction_id,
      correlation_id: message.correlation_id,
      timestamp: expect.any(String),
      status: 'rcvd',
      status_reason_message: 'answered, and the answer is not persisted any more',
    })
  })
})

describe('nothing is said of', () => {
  it("somebody else's codes, one's own in another registry, and the other operation", async () => {
    const foreign = await codeOf(server, other, about(uin()))
    const elsewhere = await codeOf(server, peer, about(uin(), {}, 'social'), 'social')
    const live = await codeOf(server, peer, about(uin()))
    expect(await statusOf('subscribe', 'subscription_code_list', [foreign])).toMatchObject(NOTHING)
    expect(await statusOf('subscribe', 'subscription_code_list', [elsewhere])).toMatchObject(NOTHING)
    expect(await statusOf('unsubscribe', 'subscription_code_list', [live])).toMatchObject(NOTHING)
    expect(await statusOf('search', 'subscription_code_list', [live])).toMatchObject(NOTHING)
    expect(await statusOf('receipt', 'subscription_code_list', [live])).toMatchObject(NOTHING)
  })

  it('an unsubscribe by the references of a subscribe', async () => {
    await called(server, peer, subscribeFor(peer, [about(uin())]))
    expect(await statusOf('unsubscribe', 'reference_id_list', ['s-0'])).toMatchObject(NOTHING)
  })
})
