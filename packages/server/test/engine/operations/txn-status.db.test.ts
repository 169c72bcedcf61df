/** The status of a transaction that the sender has. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { accepted, answerExchange, byExpression, byIdentifier, callbacksTo, deliverAll, searchFor } from '../../asynchronous.ts'
import { answering } from '../../deliveries.ts'
import { expectFault } from '../../expectations.ts'
import { bearer, post, postSearch } from '../../server.ts'
import { person, statusServer } from '../../txn-status.ts'

const { server, peer, other, url, ask, search } = await statusServer()
const run = (correlation_id: string) => answerExchange(server, correlation_id)

describe('a transaction that was answered', () => {
  it('is embedded as it was answered, its first page, by transaction_id and by correlation_id', async () => {
    const sent = await search([
      byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 3 } }),
      byExpression({ shoe_size: 1 }),
    ])
    await run(sent.correlation_id)
    const [first] = callbacksTo(peer.receiver).slice(-2)
    for (const [type, value] of [
      ['transaction_id', sent.transaction_id],
      ['correlation_id', sent.correlation_id],
      ['correlation_id', sent.correlation_id.toUpperCase()],
      ['transaction_id', ['no such one', sent.transaction_id]],
    ] as const) {
      const { header, message } = await ask(type, value)
      expect(header).toMatchObject({
        status: 'succ',
        status_reason_message: '1 of 2 items rejected; see each item',
        total_count: 2,
        completed_count: 2,
      })
      expect(message).toEqual({
        transaction_id: 'tx-question',
        correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        txnstatus_response: { txn_type: 'search', txn_status: first?.envelope.message },
      })
    }
  })

  it('has a transaction_id whose length counts in characters, not in code units', async () => {
    const transaction_id = '😀'.repeat(99)
    const sent = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')], { message: { transaction_id } }))
    await run(sent)
    await deliverAll(server)
    expect(callbacksTo(peer.receiver).at(-1)?.envelope.message).toMatchObject({ transaction_id, correlation_id: sent })
    const { message } = await ask('transaction_id', transaction_id)
    expect(message.txnstatus_response.txn_status).toMatchObject({ transaction_id, correlation_id: sent })
    const longer = searchFor(peer, [byIdentifier('UIN', 'U1')], { message: { transaction_id: `${transaction_id}x` } })
    expectFault(
      await post(url('search'), longer, bearer(peer)),
      400,
      'err.request.bad',
      'message.transaction_id: must have at most 99 characters',
    )
  })

  it('is asked for by its reference_ids, each answered in its order', async () => {
    const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`]
    const sent = await search([
      { ...byIdentifier('UIN', 'U1'), reference_id: a },
      { ...byIdentifier('UIN', 'U2'), reference_id: b },
      { ...byIdentifier('UIN', 'U3'), reference_id: 'c' },
    ])
    await run(sent.correlation_id)
    const { header, message } = await ask('reference_id_list', [b, 'none of them', a, b])
    const { txn_status } = message.txnstatus_response
    expect(txn_status).toMatchObject({ transaction_id: sent.transaction_id, correlation_id: sent.correlation_id })
    expect(txn_status.search_response).toMatchObject([
      { reference_id: b, status: 'succ', data: { reg_records: [person(2)] } },
      {
        reference_id: 'none of them',
        status: 'rjct',
        status_reason_code: 'rjct.reference_id.invalid',
        status_reason_message: 'reference_id: names no item of this transaction',
      },
      { reference_id: a, status: 'succ', data: { reg_records: [person(1)] } },
    ])
    expect(header).toMatchObject({ status: 'succ', total_count: 3, completed_count: 3 })
    expect((await ask('reference_id_list', a)).message.txnstatus_response.txn_status.search_response).toHaveLength(1)
  })

  it('has a header that counts the rejected items among those that are asked for', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `${name}-${randomUUID()}`)
    const sent = await search([
      { ...byIdentifier('UIN', 'U1'), reference_id: a },
      { ...byIdentifier('UIN', 'U2'), reference_id: b },
      { ...byIdentifier('SHOE', '44'), reference_id: c },
    ])
    await run(sent.correlation_id)
    const told = async (...names: unknown[]) => (await ask('reference_id_list', names)).header.status_reason_message
    expect(await told(a, b, c)).toBe('1 of 3 items rejected; see each item')
    expect(await told(a, c)).toBe('1 of 2 items rejected; see each item')
    expect(await told(a, b)).toBeUndefined()
  })

  it('is the one with most of the reference_ids, of several the newest', async () => {
    const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`]
    const named = (...names: string[]) => search(names.map((reference_id) => ({ ...byIdentifier('UIN', 'U1'), reference_id })))
    const both = await named(a, b)
    const older = await named(a)
    for (const { correlation_id } of [both, older]) await run(correlation_id)
    const of = async (...names: string[]) =>
      (await ask('reference_id_list', names)).message.txnstatus_response.txn_status.correlation_id
    expect(await of(a)).toBe(older.correlation_id)
    expect(await of(b)).toBe(both.correlation_id)
    const waiting = await named(a, b)
    expect(await of(a, b)).toBe(waiting.correlation_id)
    expect(await of(a)).toBe(waiting.correlation_id)
  })

  it('is the newest of its transaction_id', async () => {
    const one = await search([byIdentifier('UIN', 'U1')])
    const body = searchFor(peer, [byIdentifier('UIN', 'U2')], { message: { transaction_id: one.transaction_id } })
    const two = await accepted(server, peer, body)
    const { message } = await ask('transaction_id', one.transaction_id)
    expect(message.txnstatus_response.txn_status.correlation_id).toBe(two)
  })

  it('is found however many later messages have its transaction_id', async () => {
    const sent = await search([byIdentifier('UIN', 'U1')])
    await server.database.db.pool.query(
      `insert into exchange (participant, message_id, fingerprint, correlation_id, registry, operation, transaction_id, received_at)
        select participant, message_id || n, fingerprint, gen_random_uuid(), registry, 'txn-status', transaction_id,
          received_at + interval '1 second'
        from exchange cross join generate_series(1, 100) as n where correlation_id = $1`,
      [sent.correlation_id],
    )
    const { message } = await ask('transaction_id', sent.transaction_id)
    expect(message.txnstatus_response.txn_status.correlation_id).toBe(sent.correlation_id)
  })

  it('is told of also when its callback was refused, is dead, or had nowhere to go', async () => {
    peer.receiver.answer = answering(400)
    const sent = await search([byIdentifier('UIN', 'U1')])
    await run(sent.correlation_id)
    peer.receiver.answer = answering(200)
    const { message } = await ask('transaction_id', sent.transaction_id)
    expect(message.txnstatus_response.txn_status.search_response).toMatchObject([{ status: 'succ' }])
  })

  it('that is too old to be kept says so', async () => {
    const sent = await search([byIdentifier('UIN', 'U1')])
    await run(sent.correlation_id)
    await server.database.db.pool.query('update delivery set body = $2 where correlation_id = $1', [
      sent.correlation_id,
      Buffer.from('00', 'hex'),
    ])
    const { header, message } = await ask('transaction_id', sent.transaction_id)
    expect(header).toMatchObject({
      status: 'succ',
      status_reason_message: 'answered, and the answer is not persisted any more',
      total_count: 0,
    })
    expect(message.txnstatus_response.txn_status).toEqual({ ...sent, search_response: [] })
  })
})

describe('a transaction that is not answered yet', () => {
  it('has its items received, then pending', async () => {
    const reference_id = `w-${randomUUID()}`
    const sent = await search([{ ...byIdentifier('UIN', 'U1'), reference_id }, { reference_id: 7 }])
    const waiting = await ask('transaction_id', sent.transaction_id)
    expect(waiting.header).toMatchObject({ status: 'succ', total_count: 2, completed_count: 0 })
    expect(waiting.message.txnstatus_response.txn_status).toEqual({
      ...sent,
      search_response: [
        { reference_id, timestamp: expect.stringMatching(/Z$/), status: 'rcvd' },
        { reference_id: '', timestamp: expect.stringMatching(/Z$/), status: 'rcvd' },
      ],
    })
    await server.database.db.pool.query('update accepted_exchange set started_at = now() where correlation_id = $1', [
      sent.correlation_id,
    ])
    const begun = await ask('reference_id_list', [reference_id])
    expect(begun.header).toMatchObject({ total_count: 1, completed_count: 0 })
    expect(begun.message.txnstatus_response.txn_status.search_response).toMatchObject([{ reference_id, status: 'pdng' }])
  })

  it('and will not be, since its grant was revoked meanwhile, says so, and how it is asked again', async () => {
    const body = searchFor(peer, [byIdentifier('UIN', 'U1')])
    const sent = { ...body.message, correlation_id: await accepted(server, peer, body) }
    const revoke = async (at: string) => {
      await server.database.db.pool.query(`update participant_grant set revoked_at = ${at} where participant = $1`, [peer.id])
      server.clock.pass(1_000)
    }
    await revoke('now()')
    await answerExchange(server, sent.correlation_id)
    await revoke('null')
    // The same message again is acknowledged, and is not put in the queue again.
    expect(await accepted(server, peer, body)).toBe(sent.correlation_id)
    await answerExchange(server, sent.correlation_id)
    const { header, message } = await ask('correlation_id', sent.correlation_id)
    const reason =
      'not answered: the sender was disabled or its grant had changed when it was to be; it may be sent again under a new message_id'
    expect(header).toMatchObject({ status: 'succ', status_reason_message: reason, completed_count: 1 })
    expect(message.txnstatus_response.txn_status.search_response).toMatchObject([
      { reference_id: 'r-0', status: 'rjct', status_reason_message: reason },
    ])
  })
})

describe('a synchronous search', () => {
  it('is known, and its answer is not', async () => {
    const answer = await postSearch(server, other, [byIdentifier('UIN', 'U1')])
    const { header, message } = await ask('correlation_id', answer.body.message.correlation_id, { by: other })
    expect(header).toMatchObject({
      status: 'succ',
      status_reason_message: 'answered synchronously; such answers are not persisted',
      total_count: 0,
      completed_count: 0,
    })
    expect(message.txnstatus_response.txn_status).toEqual({
      transaction_id: 'tx-1',
      correlation_id: answer.body.message.correlation_id,
      search_response: [],
    })
  })
})
