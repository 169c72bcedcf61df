/** The window for message_ts (N20): off unless it is set. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AsyncPeer, asyncPeer, byIdentifier, searchFor } from '../../asynchronous.ts'
import { expectFault, expectRejected } from '../../expectations.ts'
import { bearer, post, type TestServer, testServer } from '../../server.ts'

let server: TestServer
let peer: AsyncPeer

beforeAll(async () => {
  server = await testServer({ limits: { message_ts_window: 300 } })
  peer = await asyncPeer(server, 'spmis.demo')
  await server.registry('civil')
})
afterAll(async () => {
  await peer.receiver.close()
  await server.close()
})

/** @param seconds from now */
function send(path: string, seconds: number, header: object = {}) {
  const body = searchFor(peer, [byIdentifier('UIN', '1')])
  const message_ts = new Date(Date.now() + seconds * 1_000).toISOString()
  const url = `${server.url}/civil/v1.0.0/registry/${path}`
  return post(url, { ...body, header: { ...body.header, message_ts, ...header } }, bearer(peer))
}

const RULE = 'header.message_ts: must lie within 300 seconds of now'

describe('within the window', () => {
  it.each([-200, 0, 200])('%d seconds from now, on both paths', async (seconds) => {
    expect((await send('sync/search', seconds)).body.header.status).toBe('succ')
    expect((await send('search', seconds)).body.message.ack_status).toBe('ACK')
  })
})

describe('outside it', () => {
  it.each([-400, 400])('%d seconds from now: rejected in the header', async (seconds) => {
    expectRejected(await send('sync/search', seconds), 'rjct.message_ts.invalid', RULE)
  })

  it.each([-400, 400])('%d seconds from now on an asynchronous path: refused', async (seconds) => {
    expectFault(await send('search', seconds), 400, 'err.request.bad', `rjct.message_ts.invalid: ${RULE}`)
  })

  it('is told after a wrong action', async () => {
    expectRejected(
      await send('sync/search', 400, { action: 'subscribe' }),
      'rjct.action.invalid',
      'header.action: must be search on this path',
    )
  })

  it('callbacks are taken: they are sent again for days as they were', async () => {
    const body = {
      header: {
        version: '1.0.0',
        message_id: 'old',
        message_ts: new Date(Date.now() - 86_400_000).toISOString(),
        action: 'notify',
        status: 'succ',
        sender_id: peer.sender_id,
      },
      message: { transaction_id: 'tx-1', notify_event: [] },
    }
    const answer = await post(`${server.url}/civil/v1.0.0/registry/notify`, body, bearer(peer))
    expect(answer.body.message.ack_status).toBe('ACK')
  })
})

it('is compared with the clock of the server, as all times of a request', async () => {
  server.clock.pass(350_000)
  expect((await send('sync/search', 350)).body.header.status).toBe('succ')
  expect((await send('search', 350)).body.message.ack_status).toBe('ACK')
  expectRejected(await send('sync/search', 0), 'rjct.message_ts.invalid', RULE)
})
