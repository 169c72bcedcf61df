/** Runs of one exchange that end between a commit and what follows it, or meet another run. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import {
  type AsyncPeer,
  accepted,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  searchFor,
} from '../../test/asynchronous.ts'
import { drainJob } from '../../test/deliveries.ts'
import { type TestServer, testServer } from '../../test/server.ts'
import { process } from './process.ts'

let server: TestServer
let peer: AsyncPeer
let count = 0

beforeAll(async () => {
  server = await testServer()
  const people = Array.from({ length: 6 }, (_, n) => ({
    '@type': 'CRVS_Person',
    identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
    name: { surname: 'Okoro' },
  }))
  await server.registry('civil', people)
})
afterEach(() => peer.receiver.close())
afterAll(() => server.close())

async function newPeer() {
  peer = await asyncPeer(server, `peer-${count++}.example`)
}

const query = (text: string, values: unknown[] = []) => server.database.db.pool.query(text, values)
const pages = () => callbacksTo(peer.receiver).map(({ envelope }) => envelope.message.search_response[0])

/** Seconds until the runs of an exchange that wait, the soonest first. */
async function processJobs(correlation_id: string): Promise<number[]> {
  const { rows } = await query(
    `select extract(epoch from run_at - now())::float8 as wait from graphile_worker._private_jobs
      where payload->>'correlation_id' = $1 and locked_at is null order by run_at`,
    [correlation_id],
  )
  return rows.map(({ wait }) => wait)
}

test('the last run, whose attempt could not be recorded, leaves its page to the drain job', async () => {
  await newPeer()
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  peer.receiver.answer = (response) => {
    query('alter table delivery_attempt rename to hidden').then(() => response.end())
  }
  try {
    await process(server.context, correlation_id, { attempt: 5 })
  } finally {
    await query('alter table hidden rename to delivery_attempt')
  }
  const { rows } = await query('select state from delivery where correlation_id = $1', [correlation_id])
  expect(rows).toEqual([{ state: 'pending' }])
  expect(await drainJob(server.context, peer.id)).toBeLessThanOrEqual(0)
})

/** A run, and in the middle of it another one, which makes the page before it; then all jobs of the exchange go. */
async function overtakenRun(correlation_id: string, other: () => Promise<void>): Promise<void> {
  const { bodies } = server.context
  const sealed = vi.spyOn(bodies, 'encryptBody').mockImplementationOnce(async (...given) => {
    sealed.mockRestore()
    await other()
    await query(
      `delete from graphile_worker._private_jobs where payload->>'correlation_id' = $1 or key = $2`,
      [correlation_id, `drain:${peer.id}`],
    )
    return bodies.encryptBody(...given)
  })
  await process(server.context, correlation_id)
}

test('a run that finds its page made by another looks again later, whatever becomes of the other', async () => {
  await newPeer()
  const item = byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 4 } })
  const correlation_id = await accepted(server, peer, searchFor(peer, [item]))
  // The other stood still for longer than its lease, goes on, makes the page, and is killed.
  await overtakenRun(correlation_id, () =>
    process(server.context, correlation_id, { attempt: 1, signal: AbortSignal.abort() }),
  )
  expect(await processJobs(correlation_id)).toEqual([expect.closeTo(10, 0)])
  await process(server.context, correlation_id)
  expect(pages().map(({ pagination }) => pagination.page_number)).toEqual([1, 2])
})

test('where the other made the last page, its attempt is looked after', async () => {
  await newPeer()
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  await overtakenRun(correlation_id, () => process(server.context, correlation_id))
  expect(await processJobs(correlation_id)).toEqual([])
  expect(await drainJob(server.context, peer.id)).toBeLessThanOrEqual(0)
})
