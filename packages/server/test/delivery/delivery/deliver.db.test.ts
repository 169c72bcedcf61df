import { deliveryAnswerBinding } from '@rollcall/core/model/delivery'
import type { Participant } from '@rollcall/core/model/participant'
import { deliverNow, reserveAttempt } from '@rollcall/delivery/delivery/deliver'
import { createDispatcher } from '@rollcall/delivery/delivery/dispatcher'
import {
  type CallbackSettings,
  findCallbackSettings,
  setCallbackSettings,
} from '@rollcall/participants/store/participant-callbacks'
import { setParticipantStatus } from '@rollcall/participants/store/participants'
import { expect, test, vi } from 'vitest'
import { drainParticipant } from '../../../../delivery/src/delivery/drain-participant.ts'
import { secondsUntilDelivery } from '../../../../delivery/src/store/deliveries/destinations.ts'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { ACK, aClaim, answering, attemptsOf, kept, newDelivery, type Receiver, senderWithPeers } from '../../deliveries.ts'

const { sender: server, newPeer: joined } = await senderWithPeers()
let peer: Receiver

const newPeer = async (answer: Receiver['answer'], settings: Partial<CallbackSettings> = {}) => {
  const made = await joined(answer, settings)
  peer = made.peer
  return made.participant
}

const here = ({ id }: Participant) => ({ participant: id, origin: peer.url })

/** Makes a delivery, and attempts it once, as the maker of an answer does. */
async function attempted(participant: Participant) {
  const { context } = server
  const claim = aClaim()
  const { default_url } = await findCallbackSettings(server.database.db, participant.id)
  const target = `${default_url?.replace(/\/$/, '')}/registry/on-search`
  const fresh = await newDelivery(server, participant, { claim, target })
  const { header, message, ...delivery } = fresh
  const permit = context.limiter.acquireForDispatcher(here(participant), { concurrency: 8, rate: 1_000 })
  if (permit === null || typeof permit === 'number') throw new Error('no permit')
  await deliverNow(context, { delivery, claim, permit, header, message })
  await context.limiter.idle()
  // It goes on by itself when it takes long.
  await vi.waitFor(async () => expect((await kept(server, delivery.id)).claimed).toBe(false), 60_000)
  return { delivery, row: await kept(server, delivery.id), attempts: await attemptsOf(server, delivery.id) }
}

const FIRST_PAUSE = { state: 'pending', attempts: 1, reason: null }

test.each([
  { name: 'ACK', answer: answering(200), state: 'delivered', status: 200, error: null },
  { name: 'empty 204', answer: answering(204, ''), state: 'delivered', status: 204, error: null },
  { name: 'no ack at all', answer: answering(202, '<html>thanks'), state: 'delivered', status: 202, error: null },
  {
    name: 'ack ERR',
    answer: answering(200, JSON.stringify({ message: { ack_status: 'ERR' } })),
    state: 'refused',
    status: 200,
    error: 'ack_err',
  },
  {
    name: 'ack ERR with 400',
    answer: answering(400, JSON.stringify({ message: { ack_status: 'ERR' } })),
    state: 'refused',
    status: 400,
    error: 'ack_err',
  },
  { name: '400', answer: answering(400, '{}'), state: 'dead', status: 400, error: 'http_permanent' },
  { name: '410', answer: answering(410), state: 'dead', status: 410, error: 'http_permanent' },
])('$name ends a delivery: $state', async ({ answer, state, status, error }) => {
  const { row, attempts } = await attempted(await newPeer(answer))
  expect(row).toMatchObject({ state, attempts: 1, reason: error, wait: null, target: `${peer.url}/registry/on-search` })
  expect(attempts).toMatchObject([{ number: 1, status, error }])
})

test.each([
  { name: '500', answer: answering(500), status: 500, error: 'http_5xx' },
  { name: '401', answer: answering(401), status: 401, error: 'http_4xx' },
  { name: 'a redirect', answer: answering(301, '', { location: '/elsewhere' }), status: 301, error: 'http_redirect' },
  { name: 'no answer', answer: () => undefined, status: null, error: 'timeout' },
  {
    name: 'an answer byte by byte',
    answer: ((response) => {
      response.writeHead(200, { 'content-length': '1000' })
      const timer = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(timer))
    }) as Receiver['answer'],
    status: null,
    error: 'timeout',
  },
  {
    name: 'a connection closed within the body',
    answer: ((response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"mess')
      setTimeout(() => response.destroy(), 20)
    }) as Receiver['answer'],
    status: null,
    error: 'connection',
  },
  {
    name: 'a reset',
    answer: ((response) => response.socket?.resetAndDestroy()) as Receiver['answer'],
    status: null,
    error: 'connection',
  },
])('$name: attempted again after five seconds', async ({ answer, status, error }) => {
  const participant = await newPeer(answer, error === 'timeout' ? { timeout_ms: 400 } : {})
  const { row, attempts } = await attempted(participant)
  expect(row).toMatchObject(FIRST_PAUSE)
  expect(row.wait).toBeGreaterThan(0)
  expect(row.wait).toBeLessThan(5.6)
  expect(attempts).toMatchObject([{ number: 1, status, error }])
  expect(peer.received.map(({ path }) => path)).toEqual(['/registry/on-search'])
  expect(await secondsUntilDelivery(server.database.db, participant.id)).toBeLessThan(7.5)
})

test('429: not before the peer wants it', async () => {
  const { row, attempts } = await attempted(await newPeer(answering(429, '{}', { 'retry-after': '120' })))
  expect(row).toMatchObject(FIRST_PAUSE)
  expect(row.wait).toBeGreaterThan(60)
  expect(row.wait).toBeLessThanOrEqual(120)
  expect(attempts).toMatchObject([{ status: 429, error: 'http_4xx' }])
})

test('nobody there', async () => {
  const participant = await newPeer(answering(200))
  await peer.close()
  const { row, attempts } = await attempted(participant)
  expect(row).toMatchObject(FIRST_PAUSE)
  expect(attempts).toMatchObject([{ status: null, error: 'connection' }])
})

test('a compressed answer is not unpacked: its status counts', async () => {
  const bomb = Buffer.alloc(1_000, 0x1f)
  const { row, attempts } = await attempted(
    await newPeer((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    }),
  )
  expect(row.state).toBe('delivered')
  expect(attempts).toMatchObject([{ status: 200, error: null, answer: null }])
})

test('of a huge answer 64 kB are read, and 256 characters kept, sealed', async () => {
  let written = 0
  const { delivery, row, attempts } = await attempted(
    await newPeer((response) => {
      response.writeHead(200)
      const block = Buffer.alloc(65_536, 'a\n')
      const more = (): void => {
        while (written < 64 * 1024 * 1024) {
          written += block.length
          if (!response.write(block)) return void response.once('drain', more)
        }
        response.end()
      }
      response.on('error', () => undefined)
      more()
    }),
  )
  expect(row.state).toBe('delivered')
  expect(written).toBeLessThan(16 * 1024 * 1024)
  const sealed = attempts[0]?.answer ?? Buffer.alloc(0)
  expect(sealed.includes('a.a.')).toBe(false)
  const answer = await server.context.bodies.decryptBody(sealed, deliveryAnswerBinding(delivery.id, 1))
  expect(answer).toBe('a.'.repeat(128))
})

test('what is sent says what it is, and belongs to a trace of the exchange', async () => {
  const { delivery } = await attempted(await newPeer(answering(200)))
  const [{ headers, body } = { headers: {}, body: '' }] = peer.received
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^rollcall\/\d+\.\d+\.\d+$/),
    traceparent: expect.stringMatching(new RegExp(`^00-${delivery.id.replaceAll('-', '')}-[0-9a-f]{16}-00$`)),
  })
  expect(JSON.parse(body).header).toMatchObject({ message_id: delivery.message_id, is_msg_encrypted: false })
})

test('a private address is refused, whatever a name says', async () => {
  const participant = await newPeer(answering(200))
  await setCallbackSettings(server.database.db, participant.id, { default_url: 'https://10.0.0.1/' })
  server.clock.pass(SETTINGS_AGE)
  const { row, attempts } = await attempted(participant)
  expect(row).toMatchObject({ state: 'dead', reason: 'address_network' })
  expect(attempts).toMatchObject([{ status: null, error: 'address_network' }])
  expect(peer.received).toEqual([])
})

test('an address that is no longer registered is not called', async () => {
  const participant = await newPeer(answering(200), { default_url: null })
  const claim = aClaim()
  const target = `${peer.url}/mine`
  const fresh = await newDelivery(server, participant, { claim, target })
  const { header, message, ...delivery } = fresh
  const permit = server.context.limiter.acquireForDispatcher(here(participant), { concurrency: 8, rate: 1_000 })
  if (permit === null || typeof permit === 'number') throw new Error('no permit')
  await deliverNow(server.context, { delivery, claim, permit, header, message })
  expect(await kept(server, delivery.id)).toMatchObject({ state: 'dead', reason: 'address_not_registered' })
  expect(peer.received).toEqual([])
  // The destination does not count as failing, because it was not called.
  const next = await reserveAttempt(server.context, here(participant))
  expect(next).not.toBeNull()
  next?.permit.release('unused')
})

test('a delivery of a participant that is disabled before the attempt has used no step of its schedule', async () => {
  const participant = await newPeer(answering(200))
  const setStatus = async (status: 'active' | 'disabled') => {
    await setParticipantStatus(server.database.db, participant.sender_id, status)
    server.clock.pass(SETTINGS_AGE)
  }
  await setStatus('disabled')
  const { delivery, row, attempts } = await attempted(participant)
  expect(row).toMatchObject({ state: 'pending', attempts: 0 })
  expect(attempts).toEqual([])
  await setStatus('active')
  await drainParticipant(server.context, participant.id)
  expect(peer.received).toEqual([])
  await server.database.db.pool.query('update delivery set claimed_until = now() where id = $1', [delivery.id])
  await drainParticipant(server.context, participant.id)
  expect(await kept(server, delivery.id)).toMatchObject({ state: 'delivered', attempts: 1 })
  expect(await attemptsOf(server, delivery.id)).toMatchObject([{ number: 1, status: 200, error: null }])
})

test('a slow peer holds up nobody: its attempt goes on by itself, and the dispatcher looks after it', async () => {
  let release = (): void => undefined
  const participant = await newPeer(
    (response) => {
      release = () => response.end(ACK)
    },
    { timeout_ms: 30_000 },
  )
  const reserved = await reserveAttempt(server.context, here(participant))
  if (reserved === null) throw new Error('no permit')
  const { claim } = reserved
  const target = `${peer.url}/registry/on-search`
  const fresh = await newDelivery(server, participant, { claim, target })
  const { header, message, ...delivery } = fresh
  await deliverNow(server.context, { ...reserved, delivery, header, message })
  expect(await kept(server, delivery.id)).toMatchObject({ state: 'pending', claimed: true })
  expect(await secondsUntilDelivery(server.database.db, participant.id)).toBeGreaterThan(30)
  expect(await reserveAttempt(server.context, here(participant))).toBeNull()
  release()
  await server.context.limiter.idle()
  expect(await kept(server, delivery.id)).toMatchObject({ state: 'delivered', attempts: 1 })
})

test('deliveries that nobody named are attempted if they are still there a second later', async () => {
  const participant = await newPeer(answering(200))
  const target = `${peer.url}/registry/on-search`
  let now = 0
  const dispatcher = createDispatcher(server.context, { slots: 1_000, wake: () => undefined, now: () => now })
  const look = async (): Promise<number> => {
    await dispatcher.poll(AbortSignal.timeout(30_000))
    await dispatcher.idle()
    return peer.received.length
  }
  await newDelivery(server, participant, { target })
  expect(await look()).toBe(0)
  now = 999
  expect(await look()).toBe(0)
  now = 1_000
  expect(await look()).toBe(1)

  await newDelivery(server, participant, { target })
  dispatcher.due(participant.id)
  expect(await look()).toBe(2)

  // One is noted while a poll reads, and is not committed yet.
  const polling = dispatcher.poll(AbortSignal.timeout(30_000))
  dispatcher.due(participant.id)
  await polling
  await newDelivery(server, participant, { target })
  expect(await look()).toBe(3)
})
