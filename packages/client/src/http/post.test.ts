import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { loopbackCertificate, loopbackKey } from '../../../server/test/loopback-certificate.ts'
import { send } from './post.ts'

test('a certificate that is not trusted is named, with what to do', async () => {
  const server = createServer({ cert: loopbackCertificate, key: loopbackKey }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { fetch, timeout: 30_000, maxAnswerBytes: 1_000 }
  await expect(
    send(settings, `https://127.0.0.1:${port}/`, { method: 'GET', headers: {} }),
  ).rejects.toMatchObject({
    reason: 'unreachable',
    message: expect.stringMatching(
      /^its TLS certificate is not trusted \([A-Z_]+\); for a certificate authority of your own, name its file in NODE_EXTRA_CA_CERTS$/,
    ),
  })
  server.close()
  server.closeAllConnections()
})
