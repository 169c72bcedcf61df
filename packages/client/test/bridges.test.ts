/** The bridges of Node, each with a real server and real connections. */
import { once } from 'node:events'
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { expressReceiver, fastifyReceiver, nodeListener } from '../src/node/index.ts'
import { keeping, notify, onSearch, receiver, signed } from './callbacks.ts'

let server: Server | undefined
let fastify: FastifyInstance | undefined

afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  await fastify?.close()
  server = undefined
  fastify = undefined
})

async function listen(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const post = (url: string, body: string): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })

const ackOf = async (response: Response) => ((await response.json()) as { message: object }).message

/** A middleware in the way of Express, mounted at a path which is cut off. */
function mounted(middleware: ReturnType<typeof expressReceiver>, before = async (_request: object) => {}): RequestListener {
  return async (request, response) => {
    await before(request)
    const originalUrl = request.url ?? ''
    request.url = originalUrl.replace('/callbacks', '')
    const next = (error?: unknown): void => {
      response.writeHead(501).end(String(error))
    }
    middleware(Object.assign(request, { originalUrl }), response, next)
  }
}

describe.each([
  ['node:http', (handling: ReturnType<typeof receiver>) => listen(nodeListener(handling))],
  ['a connect-style middleware', (handling: ReturnType<typeof receiver>) => listen(mounted(expressReceiver(handling)))],
  [
    'Fastify',
    async (handling: ReturnType<typeof receiver>) => {
      fastify = Fastify({ forceCloseConnections: true })
      await fastify.register(fastifyReceiver(handling), { prefix: '/callbacks' })
      fastify.post('/own', async (request) => ({ parsed: request.body }))
      return fastify.listen({ port: 0, host: '127.0.0.1' })
    },
  ],
])('%s', (_name, start) => {
  it('hands callbacks over, and acks back', async () => {
    const { got, handlers } = keeping()
    const url = await start(receiver({ handlers }))
    const answer = await post(`${url}/callbacks/registry/on-search`, signed(onSearch()))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await ackOf(answer)).toMatchObject({ ack_status: 'ACK', correlation_id: 'c-1' })
    await post(`${url}/callbacks/notify?x=1`, signed(notify()))
    expect(got.map(({ name }) => name)).toEqual(['on-search', 'notify'])
  })

  it('answers what is too large, and goes on with the connection', async () => {
    const url = await start(receiver({ max_body_bytes: 100_000 }))
    const large = await post(`${url}/callbacks/on-search`, 'x'.repeat(3_000_000))
    expect([large.status, await ackOf(large)]).toEqual([
      413,
      expect.objectContaining({ error: { code: 'err.request.bad', message: 'body: must be at most 100000 bytes' } }),
    ])
    expect((await post(`${url}/callbacks/on-search`, signed(onSearch()))).status).toBe(200)
  })

  it('takes chunks as they come, and outlives a sender that breaks off', async () => {
    const { got, handlers } = keeping()
    const url = await start(receiver({ handlers }))
    const options = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
    const broken = httpRequest(`${url}/callbacks/on-search`, options)
    broken.on('error', () => {})
    await new Promise((resolve) => broken.write('{"header":', resolve))
    broken.destroy()

    const slow = httpRequest(`${url}/callbacks/on-search`, options)
    const answered = once(slow, 'response')
    for (const part of signed(onSearch()).match(/.{1,300}/gs) ?? []) {
      await new Promise((resolve) => slow.write(part, resolve))
    }
    slow.end()
    const [response] = await answered
    response.resume()
    expect(response.statusCode).toBe(200)
    expect(got).toHaveLength(1)
  })

  it('answers other methods', async () => {
    const url = await start(receiver())
    const answer = await fetch(`${url}/callbacks/on-search`)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

it('Fastify reads the bodies of other routes as before', async () => {
  fastify = Fastify({ forceCloseConnections: true })
  await fastify.register(fastifyReceiver(receiver()), { prefix: '/callbacks' })
  fastify.post('/own', async (request) => ({ parsed: request.body }))
  const url = await fastify.listen({ port: 0, host: '127.0.0.1' })
  expect(await (await post(`${url}/own`, '{"a":1}')).json()).toEqual({ parsed: { a: 1 } })
})

describe('a body that was read before', () => {
  const reading = (make: (text: string) => unknown) => async (request: object) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    Object.assign(request, { body: make(Buffer.concat(chunks).toString()) })
  }

  it.each([
    ['as text', (text: string) => text],
    ['as bytes', (text: string) => Buffer.from(text)],
  ])('%s is taken', async (_name, make) => {
    const url = await listen(mounted(expressReceiver(receiver()), reading(make)))
    expect((await post(`${url}/callbacks/on-search`, signed(onSearch()))).status).toBe(200)
  })

  it('as JSON is of no use, and the application is told so', async () => {
    const url = await listen(mounted(expressReceiver(receiver()), reading(JSON.parse)))
    const answer = await post(`${url}/callbacks/on-search`, signed(onSearch()))
    expect([answer.status, await answer.text()]).toEqual([
      501,
      'TypeError: the body was parsed before it reached the receiver: mount it before express.json()',
    ])
  })
})
