import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectionsTo } from '../../test/connections.ts'
import { createAddressGuard } from './address-guard.ts'

const ASK = { method: 'GET', timeoutMs: 2_000, maxBytes: 100 } as const

async function guarded(server: Server, options: { connectTimeoutMs?: number; connections?: number } = {}) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  const { seen } = connectionsTo(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const allowed = [{ host: '127.0.0.1', loopback: true, plainHttp: true, ports: 'any' }] as const
  const guard = createAddressGuard({ allowed, ...options })
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await guard.close()
  })
  return { guard, sockets, seen, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
const guardedHttp = (listener: RequestListener) => guarded(createServer(listener))
const problemOf = async (asking: Promise<unknown>) => asking.catch((error: unknown) => error)

describe('what is sent', () => {
  test('is the request, with the host of the address and no wish for compression', async () => {
    const { guard, address } = await guardedHttp(async (request, reply) => {
      const sent = (await request.toArray()).join('')
      const { method, url, headers } = request
      reply.writeHead(202, { 'X-Seen': 'yes' }).end(JSON.stringify({ sent, method, url, ...headers }))
    })
    const headers = { 'Content-Type': 'application/json', HOST: 'elsewhere.example', 'Accept-Encoding': 'gzip' }
    const request = { ...ASK, method: 'POST', headers, body: '{"a":"\u00e9"}', maxBytes: 1_000 } as const
    const { status, headers: answered, body } = await guard.request(`${address}/a/b?c=%20`, request)
    expect([status, answered['x-seen']]).toEqual([202, 'yes'])
    expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({
      sent: '{"a":"\u00e9"}',
      method: 'POST',
      url: '/a/b?c=%20',
      'content-type': 'application/json',
      host: address.replace('http://', ''),
      'accept-encoding': 'identity',
    })
  })
})

test.each([301, 302, 303, 307, 308])('a redirect with %i is an answer and not followed', async (status) => {
  const paths: (string | undefined)[] = []
  const { guard, address } = await guardedHttp(({ url }, reply) => {
    paths.push(url)
    reply.writeHead(status, { location: '/elsewhere' }).end()
  })
  expect(await guard.request(`${address}/here`, ASK)).toMatchObject({ status, headers: { location: '/elsewhere' } })
  expect(paths).toEqual(['/here'])
})

describe('an answer is refused', () => {
  const tooLarge = { name: 'RequestFailed', failure: 'too_large', message: 'the answer is larger than allowed' }

  test.each<[string, RequestListener]>([
    ['that announces more than is allowed', (_request, reply) => reply.writeHead(200, { 'content-length': 101 }).write('a')],
    ['that turns out larger', (_request, reply) => void reply.write('a'.repeat(101))],
    [
      'that never ends',
      (_request, reply) => {
        const more = setInterval(() => reply.write('a'.repeat(40)), 5)
        reply.on('close', () => clearInterval(more))
      },
    ],
  ])('%s, and its connection is cut', async (_name, listener) => {
    const { guard, address, sockets } = await guardedHttp(listener)
    expect(await problemOf(guard.request(address, ASK))).toMatchObject(tooLarge)
    for (const socket of sockets) if (!socket.destroyed) await once(socket, 'close')
  })

  test('and one of exactly the size is not', async () => {
    const { guard, address } = await guardedHttp((_request, reply) => reply.end('a'.repeat(100)))
    expect((await guard.request(address, ASK)).body).toHaveLength(100)
  })

  test.each(['gzip', 'br', 'deflate', 'gzip, gzip'])('that is compressed with %s', async (encoding) => {
    const bomb = gzipSync(Buffer.alloc(100_000))
    const { guard, address } = await guardedHttp((_request, reply) =>
      reply.writeHead(200, { 'content-encoding': encoding }).end(bomb),
    )
    expect(await problemOf(guard.request(address, { ...ASK, maxBytes: 1_000 }))).toMatchObject({
      name: 'RequestFailed',
      failure: 'encoded',
      message: 'the answer is compressed, which was not asked for',
    })
  })

  test('whose headers are larger than 16 KB', async () => {
    const { guard, address } = await guardedHttp((_request, reply) =>
      reply.writeHead(200, { 'x-large': 'a'.repeat(20_000) }).end(),
    )
    expect(await problemOf(guard.request(address, ASK))).toMatchObject({
      name: 'RequestFailed',
      failure: 'connection',
      detail: 'UND_ERR_HEADERS_OVERFLOW',
    })
  })
})

describe('time runs out', () => {
  const late = { name: 'RequestFailed', failure: 'timeout', message: 'the answer did not come in time' }
  const SHORT = { ...ASK, timeoutMs: 150 }

  test.each<[string, () => Server]>([
    ['before the headers', () => createServer(() => {})],
    ['in the middle of the headers', () => createTcpServer((socket) => void socket.write('HTTP/1.1 200 OK\r\nx-'))],
    ['in the middle of the body', () => createServer((_request, reply) => void reply.writeHead(200).write('a'))],
    [
      'over a body that trickles',
      () =>
        createServer((_request, reply) => {
          const more = setInterval(() => reply.write('a'), 20)
          reply.on('close', () => clearInterval(more))
        }),
    ],
  ])('%s', async (_name, server) => {
    const { guard, address } = await guarded(server())
    expect(await problemOf(guard.request(address, SHORT))).toMatchObject(late)
  })

  test('while the name is being resolved, and no socket opens afterwards', async () => {
    const { address, seen } = await guardedHttp((_request, reply) => reply.end())
    const allowed = [{ host: 'sp.example', loopback: true, plainHttp: true, ports: 'any' }] as const
    const { promise: resolved, resolve: answer } = Promise.withResolvers<readonly string[]>()
    const guard = createAddressGuard({ allowed, resolve: () => resolved, connectTimeoutMs: 60 })
    onTestFinished(() => guard.close())
    const named = address.replace('127.0.0.1', 'sp.example')
    expect(await problemOf(guard.request(named, ASK))).toMatchObject(late)
    expect(await problemOf(guard.check(named))).toMatchObject(late)
    answer(['127.0.0.1'])
    expect(await seen()).toBe(0)
  })

  test('while other requests hold all connections', async () => {
    const { guard, address } = await guarded(
      createServer(() => {}),
      { connections: 1 },
    )
    const asked = [1, 2, 3].map(() => problemOf(guard.request(address, SHORT)))
    expect(await Promise.all(asked)).toMatchObject([late, late, late])
  })
})

describe('a connection fails', () => {
  const broken = { name: 'RequestFailed', failure: 'connection', message: 'the connection cannot be made, or it broke' }

  test('when nobody listens', async () => {
    const { guard, address, sockets } = await guarded(createServer())
    const nobody = createServer().listen(0, '127.0.0.1')
    await once(nobody, 'listening')
    const { port } = nobody.address() as AddressInfo
    nobody.close()
    await once(nobody, 'close')
    const problem = await problemOf(guard.request(address.replace(/\d+$/, String(port)), ASK))
    expect(problem).toMatchObject({ ...broken, detail: 'ECONNREFUSED' })
    expect(sockets.size).toBe(0)
  })

  test('when it is cut in the middle', async () => {
    const { guard, address } = await guardedHttp((_request, reply) => {
      reply.writeHead(200, { 'content-length': 50 }).write('a', () => reply.destroy())
    })
    expect(await problemOf(guard.request(address, ASK))).toMatchObject(broken)
  })

  test('when what answers does not speak HTTP', async () => {
    const { guard, address } = await guarded(createTcpServer((socket) => void socket.write('220 mail\r\n')))
    expect(await problemOf(guard.request(address, ASK))).toMatchObject(broken)
  })

  test('and the next one is made anew', async () => {
    let turn = 0
    const { guard, address } = await guardedHttp((_request, reply) => {
      turn += 1
      if (turn === 1) reply.destroy()
      else reply.end('well')
    })
    expect(await problemOf(guard.request(address, ASK))).toMatchObject(broken)
    expect((await guard.request(address, ASK)).status).toBe(200)
  })
})
