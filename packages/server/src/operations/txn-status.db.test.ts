import { randomUUID } from 'node:crypto'
import { TxnStatusResponse, validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AsyncPeer,
  accepted,
  answerExchange,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  searchFor,
  withReceiver,
} from '../../test/asynchronous.ts'
import { answering, LOOPBACK } from '../../test/deliveries.ts'
import { expectFault } from '../../test/expectations.ts'
import { encrypted, opened, publishedKey, sealingPeer, signedBody } from '../../test/sealing.ts'
import {
  bearer,
  post,
  postSearch,
  type TestParticipant,
  type TestServer,
  testServer,
} from '../../test/server.ts'

const person = (n: number) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
  name: { surname: 'Okoro', given_name: `p${n}` },
})

let server: TestServer
let peer: AsyncPeer
let other: TestParticipant
const receivers: AsyncPeer[] = []

beforeAll(async () => {
  server = await testServer()
  peer = await asyncPeer(server, 'spmis.demo')
  receivers.push(peer)
  other = await server.participant('other.demo')
  await server.registry('civil', [1, 2, 3, 4, 5].map(person))
  await server.registry('social')
})
afterAll(async () => {
  expect(server.logged()).not.toMatch(/Okoro/)
  await Promise.all(receivers.map(({ receiver }) => receiver.close()))
  await server.close()
})

const run = (correlation_id: string) => answerExchange(server, correlation_id)

function question(by: TestParticipant, attribute_type: string, attribute_value: unknown, more: object = {}) {
  return {
    header: {
      version: '1.0.0',
      message_id: `m-${randomUUID()}`,
      message_ts: new Date().toISOString(),
      action: 'txn-status',
      sender_id: by.sender_id,
      total_count: 1,
      meta: {},
    },
    message: {
      transaction_id: 'tx-question',
      txnstatus_request: {
        reference_id: 'q-1',
        txn_type: 'search',
        attribute_type,
        attribute_value,
        ...more,
      },
    },
  }
}

const url = (path: string, namespace = 'civil') => `${server.url}/${namespace}/v1.0.0/registry/${path}`

async function ask(
  attribute_type: string,
  attribute_value: unknown,
  {
    by = peer,
    namespace = 'civil',
    more = {},
  }: { by?: TestParticipant; namespace?: string; more?: object } = {},
) {
  const body = question(by, attribute_type, attribute_value, more)
  const answer = await post(url('sync/txn/status', namespace), body, bearer(by))
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(answer.body.header.action).toBe('txn-on-status')
  expect(statusResponses.problem(answer.body.message, 'message')).toBeNull()
  return answer.body
}

const statusResponses = validator(TxnStatusResponse)

/** A search under a transaction_id of its own. */
async function search(items: readonly object[], by: TestParticipant = peer) {
  const transaction_id = `tx-${randomUUID()}`
  const body = searchFor(by, items)
  const correlation_id = await accepted(server, by, { ...body, message: { ...body.message, transaction_id } })
  return { transaction_id, correlation_id }
}

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
    expect(txn_status).toMatchObject({
      transaction_id: sent.transaction_id,
      correlation_id: sent.correlation_id,
    })
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
    expect(
      (await ask('reference_id_list', a)).message.txnstatus_response.txn_status.search_response,
    ).toHaveLength(1)
  })

  it('is the one with most of the reference_ids, of several the newest', async () => {
    const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`]
    const named = (...names: string[]) =>
      search(names.map((reference_id) => ({ ...byIdentifier('UIN', 'U1'), reference_id })))
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
    const body = searchFor(peer, [byIdentifier('UIN', 'U2')], {
      message: { transaction_id: one.transaction_id },
    })
    const two = await accepted(server, peer, body)
    const { message } = await ask('transaction_id', one.transaction_id)
    expect(message.txnstatus_response.txn_status.correlation_id).toBe(two)
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
    await server.database.db.pool.query(
      'update accepted_exchange set started_at = now() where correlation_id = $1',
      [sent.correlation_id],
    )
    const begun = await ask('reference_id_list', [reference_id])
    expect(begun.header).toMatchObject({ total_count: 1, completed_count: 0 })
    expect(begun.message.txnstatus_response.txn_status.search_response).toMatchObject([
      { reference_id, status: 'pdng' },
    ])
  })

  it('and will not be, since its sender was disabled, says so', async () => {
    const sent = await search([byIdentifier('UIN', 'U1')])
    await server.database.db.pool.query(
      `update accepted_exchange set state = 'failed' where correlation_id = $1`,
      [sent.correlation_id],
    )
    const { header, message } = await ask('correlation_id', sent.correlation_id)
    const reason = 'not answered: the sender was disabled when it was to be; it may be sent again'
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
      txn_status: {
        transaction_id: 'tx-nobody',
        correlation_id: message.correlation_id,
        search_response: [unknownItem('q-1')],
      },
    })
    const byCorrelation = (await ask('correlation_id', 'c-900')).message.txnstatus_response.txn_status
    expect(byCorrelation).toMatchObject({ transaction_id: 'tx-question', correlation_id: 'c-900' })
    const byReferences = (await ask('reference_id_list', ['x', 'y', 'x'])).message.txnstatus_response
      .txn_status
    expect(byReferences.search_response).toEqual([unknownItem('x'), unknownItem('y')])
    expect(
      (await ask('reference_id_list', [])).message.txnstatus_response.txn_status.search_response,
    ).toEqual([unknownItem('q-1')])
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
    [
      'a txn_type',
      { txn_type: 'payment' },
      'txn_type: must be one of search, subscribe, unsubscribe, receipt',
    ],
    [
      'an attribute_type',
      { attribute_type: 'name' },
      'attribute_type: must be one of transaction_id, reference_id_list, correlation_id, subscription_code_list',
    ],
    ['an object', { attribute_value: { eq: 'x' } }, 'attribute_value: must be a string or an array'],
    [
      '100 characters',
      { attribute_value: 'x'.repeat(100) },
      'attribute_value: must have at most 99 characters',
    ],
    ['an empty value', { attribute_value: ['x', ''] }, 'attribute_value[1]: must not be empty'],
    [
      'a value too many',
      { attribute_value: Array(10_001).fill('x') },
      'attribute_value: must have at most 10000 elements',
    ],
    ['no reference_id', { reference_id: undefined }, 'reference_id: is required'],
    ['a locale', { locale: 'english' }, 'locale: must be three lower-case letters (ISO 639-3)'],
  ])('that breaks the format is refused on both roads: %s', async (_name, more, text) => {
    for (const path of ['sync/txn/status', 'txn/status']) {
      const answer = await post(url(path), question(peer, 'transaction_id', 'tx-1', more), bearer(peer))
      expectFault(answer, 400, 'err.request.bad', `message.txnstatus_request.${text}`)
    }
  })

  it('on the asynchronous road is called back at txn/on-status', async () => {
    const sent = await search([byIdentifier('UIN', 'U1')])
    await run(sent.correlation_id)
    const before = peer.receiver.received.length
    const correlation_id = await accepted(
      server,
      peer,
      question(peer, 'transaction_id', sent.transaction_id),
      'txn/status',
    )
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
    const sealing = await sealingPeer(server, 'sealing.example', {
      decrypts: 'P-256',
      settings: { outgoing: [LOOPBACK] },
    })
    const taking = await withReceiver(server, sealing)
    receivers.push(taking)
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
