import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { StoreBusy } from '@rollcall/database/database-errors'
import { RequestFault } from '@rollcall/protocol'
import { expect, it, onTestFinished, vi } from 'vitest'
import { bareListener } from '../../test/bare-listener.ts'
import { sendJson } from './answer.ts'
import { mountHandler, mountMethods } from './server.ts'

function serverThatThrows(error: Error) {
  const app = bareListener()
  mountHandler(app, 'GET', 'thrower', '/', () => Promise.reject(error))
  mountMethods(app, '/old', [
    {
      method: 'GET',
      name: 'old',
      deprecated: { since: '2027-01-31', sunset: '2027-12-31' },
      handler: (_request, reply) => sendJson(reply, 200, '{}'),
    },
    { method: 'POST', name: 'new', deprecated: undefined, handler: () => Promise.reject(error) },
  ])
  return app
}

it('a fault that says when to try again is answered with Retry-After', async () => {
  const app = serverThatThrows(
    new RequestFault('err.request.too_many_requests', 'too many requests', undefined, { retryAfter: 3 }),
  )
  const answer = await app.inject('/')
  expect(answer.statusCode).toBe(429)
  expect(answer.headers['retry-after']).toBe('3')
  expect(answer.json()).toMatchObject({
    message: { ack_status: 'ERR', error: { code: 'err.request.too_many_requests', message: 'too many requests' } },
    errors: [{ code: 'err.request.too_many_requests', message: 'too many requests' }],
  })
})

it('a fault that does not say so has none', async () => {
  const answer = await serverThatThrows(new RequestFault('err.request.bad', 'it is bad')).inject('/')
  expect(answer.statusCode).toBe(400)
  expect(answer.headers).not.toHaveProperty('retry-after')
  expect(answer.json().errors).toEqual([{ code: 'err.request.bad', message: 'it is bad' }])
})

it('a write that finds no room is 503', async () => {
  const answer = await serverThatThrows(new StoreBusy()).inject('/')
  expect(answer.statusCode).toBe(503)
  expect(answer.json().errors).toEqual([
    { code: 'err.service.unavailable', message: 'the registry cannot be read at the moment; try again later' },
  ])
})

it('a call that is deprecated says so in its answers, with the day on which it ends; another one does not', async () => {
  const app = serverThatThrows(new RequestFault('err.request.bad', 'it is bad'))
  const { statusCode, headers } = await app.inject('/old')
  expect([statusCode, headers.deprecation, headers.sunset]).toEqual([200, '@1801353600', 'Fri, 31 Dec 2027 00:00:00 GMT'])
  const other = await app.inject({ method: 'POST', url: '/old' })
  expect([other.statusCode, other.headers.deprecation, other.headers.sunset]).toEqual([400, undefined, undefined])
})

it.each([
  ['short', 100],
  ['long', 20_000],
])('a %s text arrives whole, with its length in bytes', async (_name, count) => {
  // The half of a pair at the end is sent as U+FFFD.
  const text = `${JSON.stringify({ name: '\u0141ucja \u2603 \u{1f600}'.repeat(count) })}\ud800`
  const app = bareListener()
  mountHandler(app, 'GET', 'text', '/', (_request, reply) => sendJson(reply, 200, text))
  onTestFinished(() => app.close())
  const answer = await fetch(await app.listen({ host: '127.0.0.1', port: 0 }))
  const body = Buffer.from(await answer.arrayBuffer())
  expect(body.equals(Buffer.from(text))).toBe(true)
  expect(answer.headers.get('content-length')).toBe(String(body.length))
})

it('a peer that reads an answer too slowly is cut off after the time for each of its bytes', async () => {
  // Longer than what the system keeps for a connection.
  const bytes = 32 * 1_048_576
  const app = bareListener()
  const { promise, resolve } = Promise.withResolvers<ServerResponse>()
  mountHandler(app, 'GET', 'text', '/', (_request, reply) => {
    sendJson(reply, 200, 'x'.repeat(bytes))
    resolve(reply.raw)
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const socket = connect(Number(port), '127.0.0.1')
  onTestFinished(async () => {
    vi.useRealTimers()
    socket.destroy()
    await app.close()
  })
  socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const response = await promise
  vi.advanceTimersByTime(30_000 + (bytes / 65_536) * 1_000 - 1)
  expect(response.destroyed).toBe(false)
  vi.advanceTimersByTime(1)
  expect(response.destroyed).toBe(true)
})
