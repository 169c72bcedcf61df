/** The built client as an ES module of a page, in a real browser; it asks the real server through the page's own origin. */

import { changeRegistry } from '@rollcall/admin/registries/registries'
import type { Jwk } from '@rollcall/protocol'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { openBrowser, type TestBrowser } from '../../admin/test/browser.ts'
import { type Peer, sealingPeer } from '../../server/test/sealing.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import type * as Client from '../src/index.ts'
import { type Site, site } from './site.ts'

const person = (uin: string, given_name: string) => ({
  '@type': 'Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'MOBILE', identifier_value: '+999 555 0101' },
  ],
  name: { given_name },
})

declare global {
  /** The client in the page. */
  var client: typeof Client
}

let server: TestServer
let peer: Peer
let pages: Site
let opened: TestBrowser
let page: Page
/** Origins that were asked for, and whatever the browser found wrong. */
const origins = new Set<string>()
const complaints: string[] = []

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [person('0012', 'Ada'), person('0013', 'Bo'), person('0014', 'Cai')])
  peer = await sealingPeer(server, 'page.example', { decrypts: 'X25519' })
  pages = await site(server.url)
  opened = await openBrowser()
  page = await (await opened.browser.newContext()).newPage()
  page.setDefaultTimeout(120_000)
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:') origins.add(origin)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => complaints.push(message.text()))
  await page.goto(pages.origin)
  expect(complaints).toEqual([])
  await page.waitForFunction('globalThis.client')
})
afterAll(async () => {
  await opened?.close()
  await pages?.close()
  await server.close()
})
beforeEach(() => {
  complaints.length = 0
})

/** The options of the page's client. */
const given = () => ({
  options: {
    base_url: `${pages.origin}/civil/v1.0.0`,
    sender_id: peer.sender_id,
    receiver_id: 'civil.example',
    credentials: { client_id: peer.client_id, client_secret: peer.secret },
    signing: { key: { ...peer.signer.privateJwk, kid: peer.signer.kid } as Jwk },
  },
  key: { ...peer.encryption?.privateJwk, kid: 'enc-1' } as Jwk,
})

it('searches, signed: with a token, and an answer that it verifies', async () => {
  const found = await page.evaluate(async ({ options }) => {
    const { identifier, itemsOrThrow, RegistryClient } = globalThis.client
    const answer = await new RegistryClient(options).search(identifier('UIN', '0012'))
    return { signed: answer.signed, records: itemsOrThrow(answer)[0]?.data?.reg_records }
  }, given())
  expect(found).toEqual({ signed: true, records: [person('0012', 'Ada')] })
  expect(complaints).toEqual([])
  expect([...origins]).toEqual([pages.origin])
})

it('searches, encrypted, page after page', async () => {
  const names = await page.evaluate(async ({ options, key }) => {
    const { identifier, RegistryClient } = globalThis.client
    const asking = new RegistryClient({ ...options, encryption: { keys: [key] } })
    const criteria = { ...identifier('MOBILE', '+999 555 0101'), pagination: { page_size: 2 } }
    const found: unknown[] = []
    for await (const record of asking.searchAll(criteria)) found.push(record.name)
    return found
  }, given())
  expect(names).toHaveLength(3)
  expect(complaints).toEqual([])
})

it('says what goes wrong in the same classes', async () => {
  const names = await page.evaluate(async ({ options }) => {
    const { identifier, RegistryClient, TransportError, AckError, TokenRefused } = globalThis.client
    const ada = identifier('UIN', '0012')
    const nameOf = (changes: object, name: string): Promise<string> =>
      new RegistryClient({ ...options, retry: { attempts: 1 }, ...changes }).search(ada).then(
        () => `${name}: nothing`,
        (error: unknown) => {
          if (error instanceof TransportError) return `${name}: transport, ${error.reason}`
          if (error instanceof AckError) return `${name}: ack, ${error.code}`
          return error instanceof TokenRefused ? `${name}: token, ${error.code}` : `${name}: ${error}`
        },
      )
    const moved = (_url: string, init: RequestInit) => fetch('/moved', init)
    return [
      await nameOf({ signing: undefined }, 'unsigned'),
      await nameOf({ credentials: { client_id: 'nobody', client_secret: 'x' } }, 'a stranger'),
      await nameOf({ credentials: () => 'none', fetch: moved }, 'moved'),
      await nameOf({ timeout: 1, fetch: (url: string, init: RequestInit) => fetch(url, init) }, 'late'),
    ]
  }, given())
  expect(names).toEqual([
    'unsigned: ack, err.signature.missing',
    'a stranger: token, invalid_client',
    'moved: transport, redirected',
    'late: transport, timeout',
  ])
})

it('asks a server of another origin where its operator lists the page, and says so where not', async () => {
  const { options } = given()
  const across = { ...options, base_url: `${server.url}/civil/v1.0.0` }
  const ask = () =>
    page.evaluate((to) => {
      const { identifier, itemsOrThrow, RegistryClient, TransportError } = globalThis.client
      return new RegistryClient(to).search(identifier('UIN', '0012')).then(
        (answer) => itemsOrThrow(answer)[0]?.data?.reg_records,
        (error: unknown) => (error instanceof TransportError ? `${error.reason}: ${error.message}` : `${error}`),
      )
    }, across)
  expect(await ask()).toBe(
    `cors: the server answers, but the browser does not let this page read it (CORS): its operator must list ${pages.origin} among the web origins of the registry`,
  )
  await changeRegistry(acting(server.database), { namespace: 'civil', web_origins: [pages.origin] })
  server.clock.pass(5_000)
  expect(await ask()).toEqual([person('0012', 'Ada')])
})
