import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { connectionsTo } from '../../test/connections.ts'
import { partnerCertificate, partnerKey } from '../../test/partner-certificate.ts'
import { type AddressGuardOptions, createAddressGuard } from './address-guard.ts'

// Nothing here leaves the machine: names are resolved by the tests, and sockets open on loopback or not at all.

const ASK = { method: 'GET', timeoutMs: 2_000, maxBytes: 1_000 } as const

/** A listener, and how many connections it has seen. */
async function listening<Kind extends Server>(server: Kind, host = '127.0.0.1', port = 0) {
  const { seen } = connectionsTo(server)
  await new Promise<void>((listening) => server.listen(port, host, listening))
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, seen }
}
const answering = (text: string) => createServer((_request, reply) => reply.end(text))

function guardWith(options: AddressGuardOptions) {
  const guard = createAddressGuard({ resolve: () => Promise.reject(new Error('no name is resolved in this test')), ...options })
  onTestFinished(() => guard.close())
  return guard
}
const openHost = (host: string) => ({ host, loopback: true, plainHttp: true, ports: 'any' }) as const
const problemOf = async (asking: Promise<unknown>) => asking.catch((error: unknown) => error)
const REFUSED = { name: 'AddressRefused', rule: 'network', message: 'the address must be reachable on the public network' }

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe('no socket opens', () => {
  test('for a guard that is closed while its first request loads the HTTP client', async () => {
    const { port, seen } = await listening(answering('here'))
    const guard = guardWith({ allowed: [openHost('127.0.0.1')] })
    const asking = problemOf(guard.request(`http://127.0.0.1:${port}/`, ASK))
    await expect(guard.close()).resolves.toBeUndefined()
    expect(await asking).toMatchObject({ name: 'RequestFailed' })
    expect(await seen()).toBe(0)
  })

  test('for a guard that was closed before its first request', async () => {
    const { port, seen } = await listening(answering('here'))
    const guard = guardWith({ allowed: [openHost('127.0.0.1')] })
    await guard.close()
    expect(await problemOf(guard.request(`http://127.0.0.1:${port}/`, ASK))).toMatchObject({ name: 'RequestFailed' })
    expect(await seen()).toBe(0)
  })

  test.each([
    'https://127.0.0.1:PORT/',
    'https://127.1:PORT/',
    'https://2130706433:PORT/',
    'https://0x7f000001:PORT/',
    'https://0177.0.0.1:PORT/',
    'https://localhost:PORT/',
    'https://LOCALHOST:PORT/',
    'https://sp.example:PORT/',
    'https://0.0.0.0:PORT/',
    'https://[::1]:PORT/',
    'https://[::]:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    'https://[::127.0.0.1]:PORT/',
    'https://[64:ff9b::7f00:1]:PORT/',
    'https://user@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT/',
    'http://localhost:PORT/',
    'http://sp.example:PORT/',
  ])('to %s', async (address) => {
    const four = await listening(answering('inside'))
    const six = await listening(createTcpServer(), '::1', four.port)
    // The port is open to all, so that it is never the port that keeps a socket shut.
    const guard = guardWith({ ports: [four.port], resolve: async () => ['127.0.0.1', '::1'] })
    const problem = await problemOf(guard.request(address.replace('PORT', String(four.port)), ASK))
    expect(problem).toMatchObject({ name: 'AddressRefused' })
    expect([await four.seen(), await six.seen()]).toEqual([0, 0])
  })

  test.each([
    ['one inside, last', ['8.8.8.8', '127.0.0.1']],
    ['one inside, first', ['127.0.0.1', '8.8.8.8']],
    ['one in IPv6', ['8.8.8.8', '::1']],
    ['one mapped', ['::ffff:127.0.0.1']],
    ['oddly spelt', ['0x7f.1']],
    ['a name', ['localhost']],
    ['scoped', ['fe80::1%lo']],
    ['metadata', ['169.254.169.254']],
  ])('when the addresses of a name are: %s', async (_name, addresses) => {
    const { port, seen } = await listening(answering('inside'))
    const guard = guardWith({ ports: [port], resolve: async () => addresses })
    expect(await problemOf(guard.request(`https://sp.example:${port}/`, ASK))).toMatchObject(REFUSED)
    expect(await problemOf(guard.check(`https://sp.example:${port}/`))).toMatchObject(REFUSED)
    expect(await seen()).toBe(0)
  })

  test('when the permission is that of another host', async () => {
    const { port, seen } = await listening(answering('inside'))
    const guard = guardWith({ allowed: [openHost('a.example')], ports: [port], resolve: async () => ['127.0.0.1'] })
    expect(await problemOf(guard.request(`https://b.example:${port}/`, ASK))).toMatchObject(REFUSED)
    expect(await seen()).toBe(0)
  })
})

test('a refusal says to peers only which rule it was', async () => {
  const guard = guardWith({ resolve: async () => ['10.20.30.40'] })
  const problem = await problemOf(guard.check('https://intranet.example/'))
  expect(problem).toMatchObject({ ...REFUSED, network: 'private' })
  expect(`${JSON.stringify(problem)} ${String(problem)}`).not.toMatch(/10\.20|intranet/)
})

describe('names that change their address', () => {
  test('a name that was public when it was checked is refused when it leads inside', async () => {
    const { port, seen } = await listening(answering('inside'))
    const resolve = vi.fn(async () => ['127.0.0.1']).mockResolvedValueOnce(['8.8.8.8'])
    const guard = guardWith({ ports: [port], resolve })
    await guard.check(`https://sp.example:${port}/`)
    expect(await problemOf(guard.request(`https://sp.example:${port}/`, ASK))).toMatchObject(REFUSED)
    expect(await seen()).toBe(0)
  })

  test('the connection goes to the address that was judged: the name is resolved once', async () => {
    const judged = await listening(answering('judged'))
    const later = await listening(answering('later'), '127.0.0.2', judged.port)
    const resolve = vi.fn(async () => ['127.0.0.2']).mockResolvedValueOnce(['127.0.0.1'])
    const guard = guardWith({ allowed: [openHost('sp.example')], resolve })
    const { body } = await guard.request(`http://sp.example:${judged.port}/`, ASK)
    expect(Buffer.from(body).toString()).toBe('judged')
    expect(resolve.mock.calls).toEqual([['sp.example']])
    expect([await judged.seen(), await later.seen()]).toEqual([1, 0])
  })

  test('a connection that is kept open stays where it was judged', async () => {
    const judged = await listening(answering('judged'))
    const later = await listening(answering('later'), '127.0.0.2', judged.port)
    const resolve = vi.fn(async () => ['127.0.0.2']).mockResolvedValueOnce(['127.0.0.1'])
    const guard = guardWith({ allowed: [openHost('sp.example')], resolve, connections: 1 })
    for (let turn = 0; turn < 3; turn += 1) await guard.request(`http://sp.example:${judged.port}/`, ASK)
    expect([await judged.seen(), await later.seen()]).toEqual([1, 0])
  })
})

describe('names that cannot be resolved', () => {
  const failed = { name: 'RequestFailed', failure: 'unresolved', message: 'the name of the host cannot be resolved' }

  test('are a failure that may pass', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }))
    const guard = guardWith({ resolve })
    const expected = { ...failed, detail: 'EAI_AGAIN' }
    expect(await problemOf(guard.request('https://sp.example/', ASK))).toMatchObject(expected)
    expect(await problemOf(guard.check('https://sp.example/'))).toMatchObject(expected)
  })

  test('so are names without an address', async () => {
    const guard = guardWith({ resolve: async () => [] })
    expect(await problemOf(guard.request('https://sp.example/', ASK))).toMatchObject(failed)
  })

  test('the names of this machine are known to the resolver of the system', async () => {
    const { port } = await listening(answering('here'))
    const guard = createAddressGuard({ allowed: [openHost('localhost')] })
    onTestFinished(() => guard.close())
    const { body } = await guard.request(`http://localhost:${port}/`, ASK)
    expect(Buffer.from(body).toString()).toBe('here')
  })
})

describe('TLS', () => {
  const partner = () => createTlsServer({ key: partnerKey, cert: partnerCertificate }, (_request, reply) => reply.end('sealed'))
  const allowed = ['partner.example', 'other.example'].map((host) => ({ host, loopback: true, ports: 'any' }) as const)
  const options = { allowed, resolve: async () => ['127.0.0.1'] }
  const failed = { name: 'RequestFailed', failure: 'connection', message: 'the connection cannot be made, or it broke' }

  test('is made with the name of the host, at the address that was judged', async () => {
    const { port } = await listening(partner())
    const guard = guardWith({ ...options, ca: partnerCertificate })
    const { status, body } = await guard.request(`https://partner.example:${port}/`, ASK)
    expect([status, Buffer.from(body).toString()]).toEqual([200, 'sealed'])
  })

  test('needs a certificate of that name, whatever Host header is asked for', async () => {
    const { port } = await listening(partner())
    const guard = guardWith({ ...options, ca: partnerCertificate })
    const request = { ...ASK, headers: { Host: 'partner.example' } }
    const problem = await problemOf(guard.request(`https://other.example:${port}/`, request))
    expect(problem).toMatchObject({ ...failed, detail: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  test('needs a certificate that is trusted, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    // Node.js warns of that setting wherever it finds it.
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { port } = await listening(partner())
    const problem = await problemOf(guardWith(options).request(`https://partner.example:${port}/`, ASK))
    expect(problem).toMatchObject({ ...failed, detail: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  })
})
