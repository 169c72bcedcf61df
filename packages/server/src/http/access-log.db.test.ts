import { randomUUID } from 'node:crypto'
import { expect, it, test } from 'vitest'
import { asyncServer, byIdentifier, deliverAll, searchFor } from '../../test/asynchronous.ts'
import { answering } from '../../test/deliveries.ts'
import { bearer, post, type TestParticipant } from '../../test/server.ts'

const { server, newPeer } = await asyncServer()
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

interface Line {
  readonly level: string
  readonly [member: string]: unknown
}

const linesOf = (operation: string): readonly Line[] =>
  server
    .logged()
    .split('\n')
    .filter((line) => line.includes('"request answered"'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.operation === operation)

/** The lines of an operation that the work adds. */
async function logged(operation: string, count: number, work: () => Promise<unknown>) {
  const before = linesOf(operation).length
  await work()
  await expect.poll(() => linesOf(operation).length).toBe(before + count)
  return linesOf(operation).slice(before)
}

const SEARCH = `${server.url}/civil/v1.0.0/registry/sync/search`
const ASYNC = `${server.url}/civil/v1.0.0/registry/search`
const items = [byIdentifier('UIN', 'secret-7')]

function search(by: TestParticipant, url = SEARCH, header: object = {}, headers: Record<string, string> = {}) {
  const envelope = searchFor(by, items, { header: { message_id: randomUUID(), ...header } })
  return post(url, envelope, { ...bearer(by), ...headers })
}

it('has a line for each request: who asked for what, how it ended and how long it took', async () => {
  const peer = await newPeer()
  const message_id = randomUUID()
  const [line] = await logged('search', 1, () => search(peer, SEARCH, { message_id }, { traceparent: TRACEPARENT }))
  expect(line).toEqual({
    level: 'info',
    time: expect.any(String),
    msg: 'request answered',
    operation: 'search',
    mode: 'sync',
    registry: 'civil',
    participant: peer.sender_id,
    address: '127.0.0.1',
    message_id,
    correlation_id: expect.stringMatching(/^[\da-f-]{36}$/),
    traceparent: TRACEPARENT,
    outcome: 'done',
    status: 200,
    ms: expect.any(Number),
  })
})

it('has the correlation_id of an acknowledgement', async () => {
  const peer = await newPeer()
  let correlation_id = ''
  const [line] = await logged('search', 1, async () => {
    correlation_id = (await search(peer, ASYNC)).body.message.correlation_id
  })
  expect(line).toMatchObject({ mode: 'async', outcome: 'done', correlation_id })
})

it('has the code of a rejected header and of a refused request', async () => {
  const peer = await newPeer()
  const [rejected] = await logged('search', 1, () => search(peer, SEARCH, { version: '9.0.0' }))
  expect(rejected).toMatchObject({ outcome: 'rejected', code: 'rjct.version.invalid', status: 200 })
  const [refused] = await logged('search', 1, () => search(peer, SEARCH, { sender_id: 'somebody.else' }))
  expect(refused).toMatchObject({ level: 'info', outcome: 'refused', code: 'err.sender_id.invalid', participant: peer.sender_id })
})

it('has the client of a token, and no line at info for a stranger who is refused', async () => {
  const peer = await newPeer()
  const token = (secret: string) =>
    post(`${server.url}/oauth2/client/token`, 'grant_type=client_credentials', {
      'Content-Type': 'application/x-www-form-urlencoded',
      Authorization: `Basic ${Buffer.from(`${peer.client_id}:${secret}`).toString('base64')}`,
    })
  const [issued, refused] = await logged('token', 2, async () => {
    await token(peer.secret)
    await token('wrong')
  })
  expect(issued).toMatchObject({ level: 'info', participant: peer.sender_id, outcome: 'done' })
  expect(refused).toMatchObject({ participant: peer.sender_id, code: 'token.invalid_client', status: 401 })
  const [stranger] = await logged('search', 1, () => post(SEARCH, '{}', { Authorization: 'Bearer none' }))
  expect(stranger).toMatchObject({ level: 'debug', code: 'err.request.unauthorized', status: 401 })
  const [probe] = await logged('health', 1, () => fetch(`${server.url}/health`))
  expect(probe).toMatchObject({ level: 'debug', outcome: 'done' })
})

it('has nothing of what a sender has chosen, unless it is a UUID, and no value, token or secret', async () => {
  const peer = await newPeer()
  await logged('search', 2, async () => {
    await search(peer, SEARCH, { message_id: 'UIN-secret-8' }, { traceparent: 'secret-9' })
    await search(peer, `${SEARCH}?UIN=secret-10`)
  })
  await logged('none', 1, () => post(`${server.url}/secret-11/v1.0.0/secret-12`, '{}'))
  expect(server.logged()).not.toMatch(/secret-/)
  expect(server.logged()).not.toContain(peer.token)
})

test('a callback has the traceparent of its request, in every attempt; without one it has one of ours', async () => {
  const peer = await newPeer()
  peer.receiver.answer = answering(500)
  await search(peer, ASYNC, {}, { traceparent: TRACEPARENT })
  await deliverAll(server)
  peer.receiver.answer = answering(200)
  await server.database.db.pool.query(
    `update delivery set next_attempt_at = now(), claim = null, claimed_until = null where state = 'pending'`,
  )
  await deliverAll(server)
  expect(peer.receiver.received.map(({ headers }) => headers.traceparent)).toEqual([TRACEPARENT, TRACEPARENT])
  expect(peer.receiver.received.map(({ body }) => Object.keys(JSON.parse(body)).sort())).toEqual(
    Array(2).fill(['header', 'message', 'signature']),
  )

  const {
    body: { message },
  } = await search(peer, ASYNC, {}, { traceparent: `${TRACEPARENT}-more` })
  await deliverAll(server)
  const trace = message.correlation_id.replaceAll('-', '')
  expect(peer.receiver.received[2]?.headers.traceparent).toMatch(new RegExp(`^00-${trace}-[\\da-f]{16}-00$`))
})

test('so has the callback of a large request', async () => {
  const peer = await newPeer()
  const many = Array.from({ length: 600 }, (_, at) => byIdentifier('UIN', `${at}`))
  const envelope = searchFor(peer, many, { header: { message_id: randomUUID() } })
  expect(JSON.stringify(envelope).length).toBeGreaterThan(65_536)
  await post(ASYNC, envelope, { ...bearer(peer), traceparent: TRACEPARENT })
  await deliverAll(server)
  expect(peer.receiver.received[0]?.headers.traceparent).toBe(TRACEPARENT)
})

test('the traceparent is not part of the message: sent again under another one, it is the same message', async () => {
  const peer = await newPeer()
  const envelope = searchFor(peer, items, { header: { message_id: randomUUID() } })
  const ack = async (traceparent: string) =>
    (await post(ASYNC, envelope, { ...bearer(peer), traceparent })).body.message.correlation_id
  expect(await ack(TRACEPARENT)).toBe(await ack(TRACEPARENT.replace(/01$/, '00')))
})
