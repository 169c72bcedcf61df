import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import {
  type Credentials,
  createCredentialsFinder,
  type DecryptedCredentials,
  decryptCredentials,
  encryptCredentials,
  isClientIdentity,
} from '@rollcall/delivery/delivery/credentials'
import type { Vault } from '@rollcall/keys/vault'
import { createParticipantGuards, type ParticipantGuards } from '@rollcall/participants/egress/address-guard'
import { openVault } from '@rollcall/settings/storage'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { partnerCertificate, partnerKey } from '../../../../participants/test/partner-certificate.ts'
import { testConfig } from '../../../../settings/test/config.ts'
import { answering, LOOPBACK, type Receiver, receiver, type TestSender, testSender } from '../../deliveries.ts'

let sender: TestSender
let vault: Vault
let guards: ParticipantGuards
let credentials: Credentials
let clock = Date.now()
const peers: Receiver[] = []

beforeAll(async () => {
  sender = await testSender()
  vault = await openVault(testConfig(sender.env), sender.database.db)
  guards = createParticipantGuards({ ca: partnerCertificate, resolve: async () => ['127.0.0.1'] })
  credentials = createCredentialsFinder(vault, guards, { now: () => clock })
})
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()))
})
afterAll(async () => {
  await guards.close()
  await sender.close()
})

let id = 0
/** A participant with these credentials. */
async function owner(secrets: DecryptedCredentials) {
  id += 1
  const participant = { id, outgoing: [LOOPBACK, { ...LOOPBACK, host: 'partner.example', plainHttp: false }] }
  const settings = { auth: secrets.auth, sealed: await encryptCredentials(vault, id, secrets) }
  const find = (target: string) => credentials.find(participant, settings, target, 1_000)
  return { participant, settings, find }
}

const listening = async (answer: Receiver['answer']): Promise<Receiver> => {
  const peer = await receiver(answer)
  peers.push(peer)
  return peer
}

const ORIGIN = 'https://sp.example'
const BEARER: DecryptedCredentials = { auth: 'bearer', origin: ORIGIN, token: 's3cret' }

test('a token goes to the origin it was set for and to no other', async () => {
  const { find, settings } = await owner(BEARER)
  expect(settings.sealed.includes('s3cret')).toBe(false)
  const sent = await find('https://sp.example/registry/on-search')
  expect(sent).toMatchObject({ sent: true, headers: { authorization: 'Bearer s3cret' } })
  for (const other of [
    'https://sp.example:8443/',
    'http://sp.example/',
    'https://sp.example.evil.example/',
    'https://evil.example/?https://sp.example/',
  ]) {
    expect(await find(other)).toMatchObject({ sent: false, headers: {} })
  }
})

test('sealed for one participant they do not open for another, nor as something else', async () => {
  const { participant, settings } = await owner(BEARER)
  const closed = 'the credentials for callbacks cannot be decrypted; set them anew'
  await expect(decryptCredentials(vault, participant.id + 1, settings)).rejects.toMatchObject({ why: 'closed', message: closed })
  await expect(decryptCredentials(vault, participant.id, { ...settings, auth: 'mtls' })).rejects.toMatchObject({
    message: closed,
  })
  expect(await decryptCredentials(vault, participant.id, { auth: 'none', sealed: null })).toBeNull()
})

const oauth = (url: string, client_secret = 'a b:c'): DecryptedCredentials => ({
  auth: 'oauth2',
  origin: ORIGIN,
  token_url: `${url}/token`,
  client_id: 'us',
  client_secret,
  scope: 'callbacks',
})

const tokens = (expires_in?: number): Receiver['answer'] => {
  let count = 0
  return (response, received) => {
    count += 1
    answering(200, JSON.stringify({ access_token: `t${count}`, token_type: 'bearer', expires_in }))(response, received)
  }
}

test('an access token is fetched once for all who ask, and again when it has aged or was refused', async () => {
  const peer = await listening(tokens(100))
  const { find } = await owner(oauth(peer.url))
  const all = await Promise.all(Array.from({ length: 20 }, () => find(`${ORIGIN}/x`)))
  expect(new Set(all.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer t1']))
  expect(peer.received).toHaveLength(1)
  expect(peer.received[0]).toMatchObject({
    path: '/token',
    body: 'grant_type=client_credentials&scope=callbacks',
    headers: { authorization: `Basic ${Buffer.from('us:a+b%3Ac').toString('base64')}` },
  })
  clock += 89_000
  expect((await find(`${ORIGIN}/x`)).headers.authorization).toBe('Bearer t1')
  clock += 2_000
  const second = await find(`${ORIGIN}/x`)
  expect(second.headers.authorization).toBe('Bearer t2')
  second.refused()
  // One of before says it too late.
  all[0]?.refused()
  expect((await find(`${ORIGIN}/x`)).headers.authorization).toBe('Bearer t3')
  expect((await find('https://other.example/')).headers).toEqual({})
  expect(peer.received).toHaveLength(3)
})

test.each([
  ['500', answering(500)],
  ['a redirect', answering(302, '', { location: 'http://127.0.0.1/' })],
  ['no token', answering(200, '{}')],
  ['a token that would break a header', answering(200, '{"access_token":"a\\r\\nb"}')],
  ['another kind of token', answering(200, '{"access_token":"a","token_type":"mac"}')],
  ['no JSON', answering(200, '<html>')],
])('a token endpoint that answers %s: nothing is sent without a token', async (_name, answer) => {
  const peer = await listening(answer)
  const { find } = await owner(oauth(peer.url))
  await expect(find(`${ORIGIN}/x`)).rejects.toMatchObject({
    why: 'token',
    message: 'the token endpoint did not give an access token',
  })
  // A failure is not remembered.
  peer.answer = tokens(100)
  expect((await find(`${ORIGIN}/x`)).headers.authorization).toBe('Bearer t1')
})

test('an access token is used to its end while its token endpoint is away, and not when it is refused', async () => {
  const peer = await listening(tokens(100))
  const { find } = await owner(oauth(peer.url))
  const token = async () => (await find(`${ORIGIN}/x`)).headers.authorization
  expect(await token()).toBe('Bearer t1')
  peer.answer = answering(503)
  clock += 95_000
  expect(await token()).toBe('Bearer t1')
  clock += 5_001
  await expect(token()).rejects.toMatchObject({ why: 'token', detail: 'status 503' })
  peer.answer = tokens(100)
  expect(await token()).toBe('Bearer t1')
  peer.answer = answering(401)
  clock += 95_000
  for (const _ of [1, 2]) await expect(token()).rejects.toMatchObject({ detail: 'status 401' })
})

test('a token endpoint is no way into a private network', async () => {
  const { find } = await owner(oauth('https://10.0.0.1'))
  await expect(find(`${ORIGIN}/x`)).rejects.toMatchObject({ why: 'token', detail: 'network' })
})

test('a client certificate is shown to its origin only', async () => {
  const seen: unknown[] = []
  const tls = createTlsServer(
    { key: partnerKey, cert: partnerCertificate, ca: partnerCertificate, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      seen.push((request.socket as TLSSocket).getPeerCertificate()?.subject?.CN)
      response.end('{}')
    },
  )
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve))
  const origin = `https://partner.example:${(tls.address() as AddressInfo).port}`
  const { find, participant } = await owner({ auth: 'mtls', origin, cert: partnerCertificate, key: partnerKey })
  const request = { method: 'POST', body: '{}', timeoutMs: 2_000, maxBytes: 100 } as const
  const ours = await find(`${origin}/cb`)
  expect(ours).toMatchObject({ sent: true, headers: {} })
  await ours.guard.request(`${origin}/cb`, request)
  const other = await find('https://partner.example/cb')
  expect(other).toMatchObject({ sent: false })
  expect(other.guard).toBe(guards.of(participant))
  await other.guard.request(`${origin}/cb`, request)
  expect(seen).toEqual(['partner.example', undefined])
  tls.closeAllConnections()
  await new Promise((resolve) => tls.close(resolve))
})

test('a certificate and a key belong together', () => {
  const cert = partnerCertificate
  expect(isClientIdentity({ cert, key: partnerKey })).toBe(true)
  expect(isClientIdentity({ cert, key: 'no key' })).toBe(false)
  expect(isClientIdentity({ cert: 'no certificate', key: partnerKey })).toBe(false)
})
