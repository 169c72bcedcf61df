/** Where an answer may go is said when the request is accepted, by the reading that every attempt uses. */

import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { beforeEach, expect, test } from 'vitest'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { type AsyncPeer, accepted, answerExchange, asyncServer, byIdentifier, searchFor } from '../../asynchronous.ts'
import { expectFault } from '../../expectations.ts'
import { bearer, post } from '../../server.ts'

const { server, newPeer } = await asyncServer()
let peer: AsyncPeer
beforeEach(async () => {
  peer = await newPeer()
})

const question = (sender_uri: string) => searchFor(peer, [byIdentifier('UIN', 'U1')], { header: { sender_uri } })
const send = (sender_uri: string) => post(`${server.url}/civil/v1.0.0/registry/search`, question(sender_uri), bearer(peer))

async function keptOf(correlation_id: string) {
  const { rows } = await server.database.db.pool.query(
    `select accepted.sender_uri, delivery.target, delivery.state, delivery.reason
      from accepted_exchange as accepted left join delivery using (correlation_id) where correlation_id = $1`,
    [correlation_id],
  )
  return rows[0]
}

test.each(['# ', '#\t', '#\n', '#', ' ', '/a\nX: y', '\\a'])('what is no address is refused at once: %j', async (end) => {
  const answer = await send(`${peer.receiver.url}/mine${end}`)
  const rule =
    'header.sender_uri: must be an absolute http or https address of at most 2048 characters, without credentials and fragment'
  expectFault(answer, 400, 'err.sender_uri.invalid', rule)
})

test.each([
  ['/mine/x?y=1', '/mine/x?y=1'],
  ['/mine/./{a}', '/mine/%7Ba%7D'],
  ['/mine/../mine/é', '/mine/%C3%A9'],
])('what is kept is what was judged, and what is called: %j', async (written, called) => {
  const correlation_id = await accepted(server, peer, question(`${peer.receiver.url}${written}`))
  expect(await keptOf(correlation_id)).toMatchObject({ sender_uri: `${peer.receiver.url}${called}` })
  await answerExchange(server, correlation_id, { runs: 1 })
  expect(await keptOf(correlation_id)).toMatchObject({ state: 'delivered', reason: null })
  expect(peer.receiver.received.map(({ path }) => path)).toEqual([called])
})

test('an address that the rules for outgoing requests refuse is refused at once, without what it leads to', async () => {
  const { id } = peer
  const allowed = ['https://10.0.0.1', 'http://sp.example', 'https://sp.example:8443']
  await setCallbackSettings(server.database.db, id, { allowed })
  server.clock.pass(SETTINGS_AGE)
  const refused = async (address: string, rule: string) =>
    expectFault(await send(address), 400, 'err.sender_uri.invalid', `header.sender_uri: ${rule}`)
  await refused('https://10.0.0.1/', 'the address must be reachable on the public network')
  await refused('http://sp.example/', 'the address must be https')
  await refused('https://sp.example:8443/', 'the port is not one that requests may be sent to')
})
