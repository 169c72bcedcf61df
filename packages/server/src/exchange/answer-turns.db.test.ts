/** Slow searches that are answered later: they do not take all slots of a node, and are answered in the end. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type AsyncPeer,
  accepted,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  searchFor,
} from '../../test/asynchronous.ts'
import { type TestServer, testServer } from '../../test/server.ts'

let server: TestServer
let hog: AsyncPeer
let other: AsyncPeer

beforeAll(async () => {
  server = await testServer({
    ROLLCALL_ROLE: 'all',
    ROLLCALL_WORKER_CONCURRENCY: '4',
    ROLLCALL_SEARCH_TIMEOUT: '60',
  })
  const people = [{ identifier: [{ identifier_type: 'UIN', identifier_value: '1' }], sex: 'female' }]
  await server.registry('civil', people)
  await server.registry('civil', people, 'other')
  hog = await asyncPeer(server, 'hog.example')
  other = await asyncPeer(server, 'other.example')
})
afterAll(async () => {
  await Promise.all([hog, other].map(({ receiver }) => receiver.close()))
  await server.close()
})

const slow = byExpression({ sex: { eq: 'F' } })
const statuses = (peer: AsyncPeer) =>
  callbacksTo(peer.receiver).map(({ envelope }) =>
    envelope.message.search_response.map(({ status }: { status: string }) => status),
  )

it('of one participant leave slots to others, one by one and in batches', async () => {
  const client = await server.database.db.pool.connect()
  await client.query('begin; lock table r1_person in access exclusive mode')
  try {
    const requests = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? [slow] : [slow, slow]))
    for (const [at, items] of requests.entries()) {
      await accepted(server, hog, searchFor(hog, items, { header: { message_id: `slow-${at}` } }))
    }
    await accepted(server, other, searchFor(other, [byIdentifier('UIN', '1'), slow]), 'search', 'other')
    await expect.poll(() => statuses(other), { timeout: 8_000 }).toEqual([['succ', 'succ']])
    expect(statuses(hog)).toEqual([])
  } finally {
    await client.query('rollback')
    client.release()
  }
  await expect.poll(() => statuses(hog).length, { timeout: 15_000 }).toBe(12)
  expect(new Set(statuses(hog).flat())).toEqual(new Set(['succ']))
}, 30_000)
