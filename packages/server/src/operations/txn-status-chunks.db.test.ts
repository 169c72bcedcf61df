/** What is said of a batch that is answered in chunks. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type AsyncPeer,
  accepted,
  answerExchange,
  asyncPeer,
  byIdentifier,
  deliverAll,
  searchFor,
} from '../../test/asynchronous.ts'
import { bearer, post, searchRequest, type TestServer, testServer } from '../../test/server.ts'
import { CHUNK } from '../exchange/sent.ts'

let server: TestServer
let peer: AsyncPeer
let correlation_id: string

const ITEMS = CHUNK + 2
const last = (position: number) => `r-${position}`

beforeAll(async () => {
  server = await testServer({ ROLLCALL_MAX_BATCH_ITEMS: '100000' })
  peer = await asyncPeer(server, 'spmis.demo')
  const person = { '@type': 'CRVS_Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'U1' }] }
  await server.registry('civil', [person])
  const nothing = { search_criteria: {} }
  const asking = byIdentifier('UIN', 'U1')
  const items = Array.from({ length: ITEMS }, (_, n) => (n === 0 || n >= CHUNK ? asking : nothing))
  correlation_id = await accepted(server, peer, searchFor(peer, items))
})
afterAll(async () => {
  await peer.receiver.close()
  await server.close()
})

async function firstChunk(): Promise<string> {
  const { rows } = await server.database.db.pool.query(
    'select correlation_id from accepted_exchange where parent = $1 and chunk = 0',
    [correlation_id],
  )
  return rows[0].correlation_id
}

async function ask(attribute_type: string, attribute_value: unknown) {
  const { header } = searchRequest(peer.sender_id, {}, { header: { action: 'txn-status' } })
  const question = { reference_id: 'q', txn_type: 'search', attribute_type, attribute_value }
  const message = { transaction_id: 'tx-question', txnstatus_request: question }
  const url = `${server.url}/civil/v1.0.0/registry/sync/txn/status`
  const answer = await post(url, { header, message }, bearer(peer))
  expect(answer.status, JSON.stringify(answer.body).slice(0, 500)).toBe(200)
  const { txn_status } = answer.body.message.txnstatus_response
  return { header: answer.body.header, items: txn_status.search_response, of: txn_status.correlation_id }
}

it('waits as a whole, then chunk by chunk, each of its items findable all the time', async () => {
  const names = ['r-0', last(CHUNK), last(CHUNK + 1)]
  const before = await ask('reference_id_list', names)
  expect(before.of).toBe(correlation_id)
  expect(before.items.map(({ status }: { status: string }) => status)).toEqual(['rcvd', 'rcvd', 'rcvd'])

  await answerExchange(server, await firstChunk())
  const halfway = await ask('reference_id_list', names)
  expect(halfway.items).toMatchObject([
    { reference_id: 'r-0', status: 'succ', data: { reg_records: [{}] } },
    { reference_id: last(CHUNK), status: 'pdng' },
    { reference_id: last(CHUNK + 1), status: 'pdng' },
  ])
  expect(halfway.header).toMatchObject({ total_count: 3, completed_count: 1 })
  expect((await ask('reference_id_list', last(CHUNK))).items).toMatchObject([{ status: 'pdng' }])

  await deliverAll(server)
  const after = await ask('reference_id_list', names)
  expect(after.items.map(({ data }: { data: { reg_records: object[] } }) => data.reg_records.length)).toEqual(
    [1, 1, 1],
  )

  const whole = await ask('correlation_id', correlation_id)
  expect(whole.header).toMatchObject({
    status: 'succ',
    status_reason_message:
      'answered in several chunks: the records of the first one are given; ask for others by reference_id_list',
    total_count: ITEMS,
    completed_count: ITEMS,
  })
  expect(whole.items[0]).toHaveProperty('data')
  expect(whole.items.slice(CHUNK)).toEqual(
    [CHUNK, CHUNK + 1].map((n) => ({
      reference_id: last(n),
      timestamp: expect.stringMatching(/Z$/),
      status: 'succ',
    })),
  )
})
