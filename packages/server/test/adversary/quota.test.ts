/** Participants that ask too much: refused with 429 before their bodies are read, and nobody else with them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectFault } from '../expectations.ts'
import { type RawConnection, rawConnection } from '../raw-http.ts'
import { expectSealed, type Peer, sealingPeer, searchBy, sendAs, signedBody } from '../sealing.ts'
import type { Answer, TestServer } from '../server.ts'
import { expectNothingLeaked, world } from './world.ts'

let server: TestServer
let ada: Peer

beforeAll(async () => {
  server = await world({ ROLLCALL_REQUEST_TIMEOUT: '5' })
  ada = await sealingPeer(server, 'ada.example')
})

afterAll(() => server.close())

const search = (by: Peer): Promise<Answer> => sendAs(server, by, signedBody(by, searchBy(by)))

it('over its rate: 429 with Retry-After, and others are served', async () => {
  const busy = await sealingPeer(server, 'busy.example', { settings: { rate_limit: 3 } })
  const answers = await Promise.all(Array.from({ length: 12 }, () => search(busy)))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(5)
  for (const answer of refused) {
    const text = 'too many requests: at most 3 requests of a participant a second'
    expectFault(answer, 429, 'err.request.too_many_requests', text)
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  await expectSealed(server, await search(ada))
  expectNothingLeaked(server, [ada, busy], refused)
})

it('too many at a time: 429 with Retry-After, also when the others send their bodies slowly', async () => {
  const slow = await sealingPeer(server, 'slow.example', { settings: { concurrency_limit: 2 } })
  const head = `POST /civil/v1.0.0/registry/sync/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${slow.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
  const open: RawConnection[] = []
  for (let index = 0; index < 2; index += 1) {
    const raw = await rawConnection(server.running.port)
    raw.write(head)
    open.push(raw)
  }
  // Not asked before both are in: the question would take the place of one.
  await new Promise((resolve) => setTimeout(resolve, 500))
  const answer = await search(slow)
  const text = 'too many requests: at most 2 requests of a participant at a time'
  expectFault(answer, 429, 'err.request.too_many_requests', text)
  expect(answer.headers.get('retry-after')).toBe('1')
  await expectSealed(server, await search(ada))
  for (const raw of open) raw.destroy()
  await expect.poll(async () => (await search(slow)).status, { timeout: 5_000 }).toBe(200)
  expectNothingLeaked(server, [ada, slow], [answer])
})

it('nobody without a token uses up anything', async () => {
  const one = await sealingPeer(server, 'one.example', { settings: { rate_limit: 2 } })
  const body = signedBody(one, searchBy(one))
  for (let index = 0; index < 20; index += 1) {
    const answer = await sendAs(server, { ...one, token: `${one.token}x` }, body)
    const text = 'Authorization: the access token is not valid here or has expired; ask for a new one'
    expectFault(answer, 401, 'err.request.unauthorized', text)
  }
  await expectSealed(server, await sendAs(server, one, body))
})
