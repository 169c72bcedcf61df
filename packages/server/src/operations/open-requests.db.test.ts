/** Large accepted requests: no more of them are open at a time than there is room for. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import {
  type AsyncPeer,
  accepted,
  asyncPeer,
  byIdentifier,
  callbacksTo,
  searchFor,
} from '../../test/asynchronous.ts'
import { bearer, post, type TestServer, testServer } from '../../test/server.ts'
import { process } from '../exchange/process.ts'
import { findAccepted, SMALL_REQUEST } from '../store/exchanges/accepted-exchanges.ts'

let server: TestServer
let peer: AsyncPeer
let other: AsyncPeer

beforeAll(async () => {
  server = await testServer({ ROLLCALL_OPEN_REQUEST_BYTES: '1048576' })
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

/** Seconds until the runs that follow. */
async function laterRuns(correlation_id: string): Promise<number[]> {
  const { rows } = await query(
    `select extract(epoch from run_at - now())::float8 as wait from graphile_worker._private_jobs
      where key = 'process:' || $1`,
    [correlation_id],
  )
  return rows.map(({ wait }) => wait)
}

async function stateOf(correlation_id: string): Promise<unknown> {
  const { rows } = await query('select state from accepted_exchange where correlation_id = $1', [
    correlation_id,
  ])
  return rows[0]?.state
}

it('beyond them one is put off before it is read; small ones, and those of others, are not', async () => {
  const { bodies } = server.context
  const { decryptBody } = bodies
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const open = vi.spyOn(bodies, 'decryptBody').mockImplementationOnce(async (...given) => {
    begun.resolve()
    await released.promise
    return decryptBody(...given)
  })
  const running = process(server.context, await sent(peer, 500_000))
  await begun.promise

  const [second, theirs] = [await sent(peer, 300_000), await sent(other, 800_000)]
  await process(server.context, second)
  await process(server.context, theirs)
  expect(open).toHaveBeenCalledTimes(1)
  open.mockRestore()
  for (const id of [second, theirs]) {
    const waits = await laterRuns(id)
    expect(waits).toHaveLength(1)
    expect(waits[0]).toBeLessThanOrEqual(30)
    expect(await stateOf(id)).toBe('accepted')
  }
  for (const id of [await sent(peer, 200_000), await sent(other, 400_000)]) {
    await process(server.context, id)
    expect(await stateOf(id)).toBe('replied')
  }

  released.resolve()
  await running
  for (const id of [second, theirs]) {
    await process(server.context, id)
    expect(await stateOf(id)).toBe('replied')
  }
})

it('one that is alone is answered however large it is, and nothing is held after a failure', async () => {
  const id = await sent(peer, 2_000_000)
  await query('alter table r1_person rename to hidden', [])
  try {
    await expect(process(server.context, id)).rejects.toThrow('does not exist')
  } finally {
    await query('alter table hidden rename to r1_person', [])
  }
  await process(server.context, id)
  expect(await stateOf(id)).toBe('replied')
  const { envelope } = callbacksTo(peer.receiver).at(-1) ?? {}
  expect(envelope.message.search_response).toMatchObject([{ status: 'succ', pagination: { total_count: 1 } }])
})

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
