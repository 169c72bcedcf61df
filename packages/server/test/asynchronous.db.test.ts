/** The whole asynchronous road over real HTTP: a request, its ack, a worker, its callbacks, and questions about it. */
import { expect, test, vi } from 'vitest'
import { isSigned, type Profile } from '../../delivery/test/stranger/signing.ts'
import { accepted, asyncServer, byExpression, byIdentifier, callbacksTo, searchFor } from './asynchronous.ts'
import { answering } from './deliveries.ts'
import { publishedKeys } from './sealing.ts'
import { bearer, post } from './server.ts'

const person = (n: number) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
  name: { surname: 'Okoro', given_name: `p${n}` },
})

const { server, newPeer } = await asyncServer(
  Array.from({ length: 30 }, (_, n) => person(n)),
  { ROLLCALL_ROLE: 'all', ROLLCALL_RETRY_SCHEDULE: '0.1,0.1,0.1,0.1,0.1' },
)
const peer = await newPeer()

const all = byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 8 } })
const sentTo = (correlation_id: string) =>
  callbacksTo(peer.receiver).flatMap(({ envelope }) => (envelope.message.correlation_id === correlation_id ? [envelope] : []))

test('a search is acknowledged, then answered in as many callbacks as it has pages', async () => {
  const correlation_id = await accepted(server, peer, searchFor(peer, [all, byIdentifier('UIN', 'U7')]))
  await vi.waitFor(() => expect(sentTo(correlation_id)).toHaveLength(4), 60_000)
  const pages = sentTo(correlation_id).map(({ message }) => message.search_response)
  const found = pages
    .flat()
    .filter(({ reference_id }) => reference_id === 'r-0')
    .toSorted((a, b) => a.pagination.page_number - b.pagination.page_number)
  expect(found.flatMap(({ data }) => data.reg_records)).toEqual(Array.from({ length: 30 }, (_, n) => person(n)))
})

test.each([
  ['raw-rsa', 'rfc8785'],
  ['jws-detached', 'sorted-unescaped'],
  ['parameters', 'sorted-escaped'],
] as const)(
  'a callback to a system that knows RS256 alone is signed with RS256, in its own layout: %s',
  async (layout, canonical_form) => {
    const profile: Profile = { layout, canonical_form, digest_prefix: '', algorithms: ['RS256'] }
    const only = await newPeer({ signature_profile: profile })
    const correlation_id = await accepted(server, only, searchFor(only, [byIdentifier('UIN', 'U7')]))
    await vi.waitFor(() => expect(only.receiver.received).toHaveLength(1), 60_000)
    const text = only.receiver.received[0]?.body ?? ''
    expect(JSON.parse(text).message).toMatchObject({ correlation_id, search_response: [{ data: { reg_records: [person(7)] } }] })
    const keys = await publishedKeys(server)
    expect(isSigned(text, 'civil.example', keys, profile)).toBe(true)
    expect(isSigned(text.replace('Okoro', 'Ekoro'), 'civil.example', keys, profile)).toBe(false)
  },
)

test('the same message has the same ack and one answer', async () => {
  const body = searchFor(peer, [byIdentifier('UIN', 'U7')])
  const acks = await Promise.all([1, 2, 3].map(() => accepted(server, peer, body)))
  const [correlation_id = ''] = acks
  expect(new Set(acks).size).toBe(1)
  await vi.waitFor(() => expect(sentTo(correlation_id)).toHaveLength(1), 60_000)
  expect(await accepted(server, peer, body)).toBe(correlation_id)
  const other = { ...body, message: { ...body.message, transaction_id: 'tx-other' } }
  const answer = await post(`${server.url}/civil/v1.0.0/registry/search`, other, bearer(peer))
  expect(answer.status).toBe(400)
  expect(answer.body.message).toMatchObject({
    ack_status: 'ERR',
    error: {
      code: 'err.request.bad',
      message: 'rjct.message_id.duplicate: header.message_id: was used before for another message',
    },
  })
})

test('what its receiver refused for a while comes in the end, the same each time', async () => {
  peer.receiver.answer = answering(503)
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U7')]))
  await vi.waitFor(() => expect(sentTo(correlation_id).length).toBeGreaterThanOrEqual(2), 60_000)
  peer.receiver.answer = answering(200)
  const delivered = async () =>
    (await server.database.db.pool.query('select state from delivery where correlation_id = $1', [correlation_id])).rows.map(
      ({ state }) => state,
    )
  await vi.waitFor(async () => expect(await delivered()).toEqual(['delivered']), 60_000)
  const tries = sentTo(correlation_id)
  for (const { header, message } of tries)
    expect({ header, message }).toEqual({ header: tries[0].header, message: tries[0].message })
})

test('a question about it is answered on both roads', async () => {
  const search = searchFor(peer, [byIdentifier('UIN', 'U7')], { message: { transaction_id: 'tx-asked' } })
  const correlation_id = await accepted(server, peer, search)
  await vi.waitFor(() => expect(sentTo(correlation_id)).toHaveLength(1), 60_000)
  const question = (message_id: string) => ({
    header: { ...search.header, message_id, action: 'txn/status' },
    message: {
      transaction_id: 'tx-question',
      txnstatus_request: {
        reference_id: 'q',
        txn_type: 'on-search',
        attribute_type: 'transaction_id',
        attribute_value: 'tx-asked',
      },
    },
  })
  const url = `${server.url}/civil/v1.0.0/registry/sync/txn/status`
  const told = (await post(url, question('q-1'), bearer(peer))).body
  const [original] = sentTo(correlation_id)
  expect(told.message.txnstatus_response).toEqual({ txn_type: 'search', txn_status: original.message })
  const asked = await accepted(server, peer, question('q-2'), 'txn/status')
  await vi.waitFor(() => expect(sentTo(asked)).toHaveLength(1), 60_000)
  expect(sentTo(asked)[0].message.txnstatus_response).toEqual(told.message.txnstatus_response)
})
