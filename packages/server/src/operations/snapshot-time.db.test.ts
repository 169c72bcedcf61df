/** How long the searches of one request are begun that all read one state of the database. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type AsyncPeer,
  accepted,
  answerExchange,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  searchFor,
} from '../../test/asynchronous.ts'
import { type TestServer, testServer } from '../../test/server.ts'

let server: TestServer
let peer: AsyncPeer

beforeAll(async () => {
  server = await testServer({ ROLLCALL_SNAPSHOT_SEARCH_TIME: '1' })
  const people = [{ identifier: [{ identifier_type: 'UIN', identifier_value: '1' }], sex: 'female' }]
  await server.registry('civil', people)
  peer = await asyncPeer(server, 'slow.example')
})
afterAll(async () => {
  await peer.receiver.close()
  await server.close()
})

const slow = byExpression({ sex: { eq: 'F' } })

/** What is answered to the items when the first search of the database takes longer than searches are begun. */
async function answered(items: readonly object[]): Promise<string[]> {
  const client = await server.database.db.pool.connect()
  await client.query('begin; lock table r1_person in access exclusive mode')
  const correlation_id = await accepted(server, peer, searchFor(peer, items))
  const processed = answerExchange(server, correlation_id)
  await sleep(1_200)
  await client.query('rollback')
  client.release()
  await processed
  const items_answered = callbacksTo(peer.receiver).at(-1)?.envelope.message.search_response
  return items_answered.map((item: Record<string, string>) =>
    item.status === 'succ' ? 'succ' : `${item.status_reason_code} ${item.status_reason_message}`,
  )
}

it('has an end: what is left is rejected, and identifiers are looked up', async () => {
  const late =
    'rjct.search_criteria.invalid search_criteria.query: not begun: the searches of this request took 1 seconds; send fewer slow ones in one request'
  expect(await answered([slow, slow, byIdentifier('UIN', '1'), slow])).toEqual(['succ', late, 'succ', late])
  // The next request has its own time.
  expect(await answered([slow, byIdentifier('UIN', '1')])).toEqual(['succ', 'succ'])
})
