import { once } from 'node:events'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { loopbackCertificate, loopbackKey } from '../../../admin/test/loopback-certificate.ts'
import { processorTime } from '../../../core/test/processor-time.ts'
import { sendOnce } from './post.ts'
import { isTlsExpected } from './wrong-scheme.ts'

const answersHttps = { reason: 'unreadable', message: 'the address answers https: write https:// in place of http://' }
const answersHttp = { reason: 'unreadable', message: 'the address answers http: write http:// in place of https://' }
const overTls = (answer: RequestListener) => createServer({ cert: loopbackCertificate, key: loopbackKey }, answer)
const ok: RequestListener = (_request, response) => response.end('{}')
const proxy: RequestListener = (_request, response) =>
  response.writeHead(400).end('<h1>400 The plain HTTP request was sent to HTTPS port</h1>')

test.each<[string, 'http' | 'https', () => Server, object]>([
  ['http to a server of TLS', 'http', () => overTls(ok), answersHttps],
  ['http to a proxy that says so', 'http', () => createPlainServer(proxy), answersHttps],
  ['https to a server without TLS', 'https', () => createPlainServer(ok), answersHttp],
])('%s names the right scheme', async (_name, scheme, make, expected) => {
  const server = make().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { fetch, timeout: 30_000, maxAnswerBytes: 1_000 }
  const url = `${scheme}://127.0.0.1:${port}/oauth2/client/token`
  await expect(sendOnce(settings, url, { method: 'POST', headers: {}, body: 'x' })).rejects.toMatchObject(expected)
  server.close()
  server.closeAllConnections()
})

test('a long answer that nearly says so is read in the time of any other', () => {
  const began = processorTime()
  expect(isTlsExpected('http://registry.example', 400, 'plain HTTP request '.repeat(20_000))).toBe(false)
  expect(processorTime() - began).toBeLessThan(1_000)
})

test('a server that breaks off and has no TLS either cannot be reached', async () => {
  const server = createPlainServer((request) => request.socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { fetch, timeout: 30_000, maxAnswerBytes: 1_000 }
  await expect(sendOnce(settings, `http://127.0.0.1:${port}/`, { method: 'GET', headers: {} })).rejects.toMatchObject({
    reason: 'unreachable',
  })
  server.close()
})

test('a certificate that is not trusted is named, with what to do', async () => {
  const server = createServer({ cert: loopbackCertificate, key: loopbackKey }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { fetch, timeout: 30_000, maxAnswerBytes: 1_000 }
  await expect(sendOnce(settings, `https://127.0.0.1:${port}/`, { method: 'GET', headers: {} })).rejects.toMatchObject({
    reason: 'unreachable',
    message: expect.stringMatching(
      /^its TLS certificate is not trusted \([A-Z_]+\); for a certificate authority of your own, name its file in NODE_EXTRA_CA_CERTS$/,
    ),
  })
  server.close()
  server.closeAllConnections()
})
