/** Large accepted requests (how many are in work at a time: `store/exchanges/claims.db.test.ts`). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AsyncPeer, accepted, asyncPeer, byIdentifier, searchFor } from '../../test/asynchronous.ts'
import { bearer, post, type TestServer, testServer } from '../../test/server.ts'
import { findAccepted, SMALL_REQUEST } from '../store/exchanges/accepted-exchanges.ts'

let server: TestServer
let peer: AsyncPeer
let other: AsyncPeer

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [{ identifier: [{ identifier_type: 'UIN', identifier_value: '1' }] }])
  peer = await asyncPeer(server, 'large.example')
  other = await asyncPeer(server, 'other.example')
})
afterAll(async () => {
  await Promise.all([peer, other].map(({ receiver }) => receiver.close()))
  await server.close()
})

let count = 0

/** A request of so many bytes, and a little more. */
async function sent(by: AsyncPeer, bytes: number): Promise<string> {
  const header = { message_id: `m-${count}`, meta: { padding: 'x'.repeat(bytes) } }
  const item = { ...byIdentifier('UIN', '1'), reference_id: `item-${count}` }
  count += 1
  return accepted(server, by, searchFor(by, [item], { header }))
}

const query = (text: string, values: unknown[]) => server.database.db.pool.query(text, values)

it('is not read with its exchange; what an earlier version accepted counts as large as it is kept', async () => {
  const { db } = server.context
  const [small, large] = [await sent(peer, SMALL_REQUEST - 2_000), await sent(peer, SMALL_REQUEST)]
  const sizeOf = async (id: string) => {
    const found = await findAccepted(db, id)
    return [found?.request === null, (found?.request_bytes ?? 0) > SMALL_REQUEST]
  }
  expect([await sizeOf(small), await sizeOf(large)]).toEqual([
    [false, false],
    [true, true],
  ])
  await query('update accepted_exchange set request_bytes = null where correlation_id = $1', [large])
  const found = await findAccepted(db, large)
  expect(found?.request_bytes).toBe(found?.request?.length)
})

it('is found by its items while it waits, also by several who ask at once', async () => {
  const ids = [await sent(other, 300_000), await sent(other, 300_000)]
  const answers = await Promise.all(
    [`item-${count - 2}`, `item-${count - 1}`].map((reference_id) =>
      post(
        `${server.url}/civil/v1.0.0/registry/sync/txn/status`,
        {
          header: {
            version: '1.0.0',
            message_id: `q-${reference_id}`,
            message_ts: new Date().toISOString(),
            action: 'txn-status',
            sender_id: other.sender_id,
            total_count: 1,
            meta: {},
          },
          message: {
            transaction_id: 'tx-question',
            txnstatus_request: {
              reference_id: 'q-1',
              txn_type: 'search',
              attribute_type: 'reference_id_list',
              attribute_value: [reference_id],
            },
          },
        },
        bearer(other),
      ),
    ),
  )
  const told = answers.map(({ body }) => body.message.txnstatus_response.txn_status)
  expect(told.map(({ correlation_id }) => correlation_id)).toEqual(ids)
  expect(told.map(({ search_response: [item] }) => item.status)).toEqual(['rcvd', 'rcvd'])
})
