/** Credentials for a participant's callbacks, from files to the wire: a token endpoint and TLS on loopback. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer as createPlainServer } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { loopbackCertificate, loopbackKey } from '../../../admin/test/loopback-certificate.ts'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { partnerCertificate, partnerKey } from '../../../participants/test/partner-certificate.ts'
import { ACK, answering, receiver } from '../../../server/test/deliveries.ts'
import { databaseUrl, dataDirectory, rollcall, rollcallJson } from '../../test/command.ts'

let env: Record<string, string>
let folder: Awaited<ReturnType<typeof dataDirectory>>
let close: () => Promise<void>

beforeAll(async () => {
  const database = await testDatabase()
  close = database.close
  folder = await dataDirectory()
  const files = {
    'loopback.pem': loopbackCertificate,
    'partner.pem': partnerCertificate,
    'partner-key.pem': partnerKey,
    'secret.txt': 's3cret\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(at(name), text)
  env = { DATABASE_URL: databaseUrl(database.connection) }
  await rollcallJson(['registry', 'add', 'civil', '--sender-id', 'civil.example'], env)
  await rollcallJson(['participant', 'add', 'a.example', '--name', 'A'], env)
  const words = ['--port', 'any', '--plain-http', '--loopback']
  for (const host of ['127.0.0.1', 'localhost']) {
    await rollcallJson(['participant', 'host', 'allow', 'a.example', host, ...words], env)
  }
})
afterAll(async () => {
  await close()
  await folder.remove()
})

const at = (name: string): string => join(folder.path, name)

/** The environment in which the certificate of loopback is trusted. */
const trusting = () => ({ NODE_EXTRA_CA_CERTS: at('loopback.pem') })

const open: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(open.splice(0).map((close) => close())))

async function listening(server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

/** A participant that speaks TLS, and who showed which certificate to it. */
async function secured(options: ServerOptions = {}): Promise<{ url: string; shown: (string | undefined)[] }> {
  const shown: (string | undefined)[] = []
  const server = createServer({ key: loopbackKey, cert: loopbackCertificate, ...options })
  server.on('request', (request, response) => {
    const cn = (request.socket as TLSSocket).getPeerCertificate()?.subject?.CN
    shown.push(typeof cn === 'string' ? cn : undefined)
    response.writeHead(200, { 'content-type': 'application/json' }).end(ACK)
  })
  return { url: `https://127.0.0.1:${await listening(server)}`, shown }
}

const callback = (...words: string[]) => rollcallJson(['participant', 'callback', 'a.example', ...words], env)

/** The exit code of a round trip, and what its steps say. */
async function roundTrip(
  words: readonly string[] = [],
  more: Record<string, string> = {},
): Promise<{ code: number | null; steps: Record<string, string> }> {
  const all = ['participant', 'test', 'a.example', '--json', ...words]
  const { code, stdout } = await rollcall(all, { ...env, ...more })
  const steps = (JSON.parse(stdout).steps as { step: string; ok: boolean; told: string }[]).map(({ step, ok, told }) => [
    step,
    `${ok ? 'ok' : 'failed'}: ${told}`,
  ])
  return { code, steps: Object.fromEntries(steps) }
}

describe('TLS', () => {
  const TRUSTED = 'ok: the certificate is that of the host, and trusted'

  test('a certificate of the host that is trusted', async () => {
    const { url } = await secured()
    await callback('--default-url', url, '--auth', 'none')
    expect(await roundTrip([], trusting())).toMatchObject({ code: 0, steps: { tls: TRUSTED, credentials: 'ok: none are set' } })
  })

  test('one that nobody vouches for', async () => {
    const { url, shown } = await secured()
    await callback('--default-url', url)
    expect(await roundTrip()).toMatchObject({
      code: 1,
      steps: {
        tls: 'failed: the handshake failed (DEPTH_ZERO_SELF_SIGNED_CERT)',
        answer: expect.stringMatching(/^failed: no answer \(/),
      },
    })
    expect(shown).toEqual([])
  })

  test('one of another host', async () => {
    const { url, shown } = await secured()
    await callback('--default-url', url.replace('127.0.0.1', 'localhost'))
    expect(await roundTrip([], trusting())).toMatchObject({
      code: 1,
      steps: { tls: 'failed: the handshake failed (ERR_TLS_CERT_ALTNAME_INVALID)' },
    })
    expect(shown).toEqual([])
  })

  test('a port that does not speak it', async () => {
    const port = await listening(createPlainServer((_request, response) => response.end(ACK)))
    await callback('--default-url', `https://127.0.0.1:${port}`)
    const { code, steps } = await roundTrip()
    expect(code).toBe(1)
    expect(steps.tls).toMatch(/^failed: the handshake failed \(\w+\)$/)
  })

  test('a port on which nobody listens says nothing of TLS', async () => {
    await callback('--default-url', 'https://127.0.0.1:9')
    const { code, steps } = await roundTrip()
    expect(code).toBe(1)
    expect(steps).not.toHaveProperty('tls')
    expect(steps.answer).toMatch(/^failed: no answer \(.*ECONNREFUSED\) after/)
  })
})

describe('--auth mtls', () => {
  const identity = () => ['--auth', 'mtls', '--cert', at('partner.pem'), '--key', at('partner-key.pem')]

  test('shows the certificate to the origin that it was set for, and to no other', async () => {
    const asked = { requestCert: true, ca: partnerCertificate, rejectUnauthorized: true }
    const { url, shown } = await secured(asked)
    // With TLS 1.3, a client may believe that the handshake is over when it is refused.
    const other = await secured({ ...asked, maxVersion: 'TLSv1.2' })
    expect(await callback('--default-url', url, '--allow', other.url, ...identity())).toMatchObject({ auth: 'mtls' })
    expect(await roundTrip([], trusting())).toMatchObject({ code: 0, steps: { credentials: 'ok: mtls: they are sent' } })
    expect(shown).toEqual(['partner.example'])
    const elsewhere = await roundTrip(['--to', other.url], trusting())
    expect(elsewhere).toMatchObject({
      code: 1,
      steps: {
        credentials: 'ok: they are for another origin and stay here',
        tls: 'failed: the handshake failed (ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE)',
      },
    })
    expect(other.shown).toEqual([])
  })
})

describe('--auth oauth2', () => {
  const words = (url: string) => [
    ...['--auth', 'oauth2', '--token-url', `${url}/token`, '--client-id', 'us', '--scope', 'callbacks'],
    ...['--client-secret-file', at('secret.txt')],
  ]

  test('fetches a token with the secret of the file, and sends it', async () => {
    const peer = await receiver((response, received) =>
      answering(200, received.path === '/token' ? '{"access_token": "t-1", "expires_in": 60}' : ACK)(response, received),
    )
    open.push(() => peer.close())
    await callback('--default-url', peer.url, ...words(peer.url))
    expect(await roundTrip()).toMatchObject({ code: 0, steps: { credentials: 'ok: oauth2: they are sent' } })
    const [token, message] = peer.received
    expect(token).toMatchObject({
      path: '/token',
      body: 'grant_type=client_credentials&scope=callbacks',
      headers: { authorization: `Basic ${Buffer.from('us:s3cret').toString('base64')}` },
    })
    expect(message).toMatchObject({ path: '/registry/on-search', headers: { authorization: 'Bearer t-1' } })
  })

  test('a token endpoint that gives none: nothing is sent', async () => {
    const peer = await receiver(answering(401, '{"error": "invalid_client"}'))
    open.push(() => peer.close())
    await callback('--default-url', peer.url, ...words(peer.url))
    expect(await roundTrip()).toMatchObject({
      code: 1,
      steps: { credentials: 'failed: the token endpoint did not give an access token (status 401)' },
    })
    expect(peer.received.map(({ path }) => path)).toEqual(['/token'])
  })
})
