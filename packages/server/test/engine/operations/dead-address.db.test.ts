/** One participant, many requests for a dead address, then one for a live one. */

import { findParticipant } from '@rollcall/participants/store/participants'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drainParticipant } from '../../../../delivery/src/delivery/drain-participant.ts'
import { accepted, allowLoopback, answerExchange, byIdentifier, searchFor } from '../../asynchronous.ts'
import { LOOPBACK, receiver } from '../../deliveries.ts'
import { type TestParticipant, type TestServer, testServer } from '../../server.ts'

let server: TestServer
beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
})
afterAll(() => server.close())

async function askedAt(peer: TestParticipant, url: string): Promise<string> {
  const header = { sender_uri: `${url}/on-search` }
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')], { header }))
  await answerExchange(server, correlation_id, { runs: 1 })
  return correlation_id
}
async function stateOf(correlation_id: string): Promise<string> {
  const { rows } = await server.database.db.pool.query<{ state: string }>(
    'select state from delivery where correlation_id = $1',
    [correlation_id],
  )
  return rows[0]?.state ?? 'none'
}

test('the answer for the live address is delivered at once, before and after the breaker of the dead one opens', async () => {
  const peer = await server.participant('many-addresses.example', { outgoing: [LOOPBACK] })
  await allowLoopback(server, peer)
  const [dead, live, other] = [await receiver(), await receiver(), await receiver()]
  await dead.close()
  const waiting: string[] = []
  for (let at = 0; at < 40; at += 1) waiting.push(await askedAt(peer, dead.url))
  expect(await stateOf(await askedAt(peer, live.url))).toBe('delivered')

  const { id } = (await findParticipant(server.database.db, peer.sender_id)) ?? { id: 0 }
  await drainParticipant(server.context, id)
  expect(await stateOf(await askedAt(peer, live.url))).toBe('delivered')
  expect(await stateOf(await askedAt(peer, other.url))).toBe('delivered')
  expect(live.received).toHaveLength(2)
  expect(new Set(await Promise.all(waiting.map(stateOf)))).toEqual(new Set(['pending']))
  await Promise.all([live.close(), other.close()])
})
