import { get } from 'node:http'
import { changeRegistry } from '@rollcall/admin/registries/registries'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { processorTime } from '../../../core/test/processor-time.ts'
import { searchRequest, type TestServer, testServer } from '../../test/server.ts'

const LISTED = 'https://app.example'
let server: TestServer
let token: string

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [])
  await server.registry('social', [])
  await changeRegistry(acting(server.database), { namespace: 'civil', web_origins: [LISTED, 'http://localhost:*'] })
  token = (await server.participant('spmis.example')).token
  server.clock.pass(5_000)
})
afterAll(() => server.close())

const headersOf = ({ headers }: Response) => ({
  origin: headers.get('access-control-allow-origin'),
  vary: headers.get('vary'),
  credentials: headers.get('access-control-allow-credentials'),
})
const NONE = { origin: null, vary: 'Origin', credentials: null }
const readBy = (origin: string) => ({ origin, vary: 'Origin', credentials: null })

const preflight = (path: string, Origin: string) =>
  fetch(`${server.url}${path}`, {
    method: 'OPTIONS',
    headers: { Origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization,content-type' },
  })
const search = (namespace: string, Origin: string) =>
  fetch(`${server.url}/${namespace}/v1.0.0/registry/sync/search`, {
    method: 'POST',
    headers: { Origin, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(searchRequest('spmis.example', { type: 'UIN', value: '1' })),
  })

it('answers preflights of listed origins alone', async () => {
  for (const path of ['/civil/v1.0.0/registry/sync/search', '/oauth2/client/token', '/.well-known/jwks.json']) {
    for (const origin of [LISTED, 'http://localhost:5173']) {
      const answer = await preflight(path, origin)
      expect([answer.status, headersOf(answer)]).toEqual([204, readBy(origin)])
      expect(answer.headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type')
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET, POST')
    }
    for (const origin of ['https://evil.example', 'null', `${LISTED}.evil.example`]) {
      const answer = await preflight(path, origin)
      expect([answer.status, headersOf(answer)]).toEqual([405, NONE])
    }
  }
})

it('lets a listed page read answers and errors of its registry, and of no other', async () => {
  const found = await search('civil', LISTED)
  expect([found.status, headersOf(found)]).toEqual([200, readBy(LISTED)])
  const other = await search('social', LISTED)
  expect([other.status, headersOf(other)]).toEqual([200, NONE])
  const refused = await fetch(`${server.url}/civil/v1.0.0/registry/sync/search`, {
    method: 'POST',
    headers: { Origin: LISTED, 'Content-Type': 'application/json' },
    body: '{}',
  })
  expect([refused.status, headersOf(refused)]).toEqual([401, readBy(LISTED)])
  expect((await preflight('/social/v1.0.0/registry/sync/search', LISTED)).status).toBe(405)
  expect((await preflight('/nowhere/v1.0.0/registry/sync/search', LISTED)).status).toBe(405)
})

it('lets no page read our pages', async () => {
  for (const path of ['/', '/civil', '/civil/v1.0.0', '/civil/v1.0.0/docs', '/civil/v1.0.0/docs/', '/civil/v1.0.0/docs?x']) {
    const answer = await fetch(`${server.url}${path}`, { headers: { Origin: LISTED, Accept: 'text/html' } })
    expect([path, headersOf(answer)]).toEqual([path, { ...NONE }])
  }
  const document = await fetch(`${server.url}/civil/v1.0.0/openapi.json`, { headers: { Origin: LISTED } })
  expect(headersOf(document)).toEqual(readBy(LISTED))
})

it('says nothing to programs, and never on the operator listener', async () => {
  expect((await fetch(`${server.url}/.well-known/jwks.json`)).headers.get('vary')).toBeNull()
  const answer = await fetch(`${server.adminUrl}/admin/v1/registries`, { headers: { Origin: LISTED } })
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()
})

it('ends a path at its hash, and reads one of very many slashes in the time of any other', async () => {
  // `fetch` sends no hash.
  const ask = (path: string) =>
    new Promise<unknown>((resolve, reject) => {
      get(server.url, { path, headers: { Origin: LISTED }, agent: false }, (answer) => {
        answer.resume()
        resolve([answer.statusCode, answer.headers['access-control-allow-origin']])
      }).on('error', reject)
    })
  const began = processorTime()
  for (let asked = 0; asked < 20; asked += 1) {
    expect(await ask(`/.well-known/jwks.json#${'/'.repeat(15_000)}a`)).toEqual([200, LISTED])
  }
  expect(processorTime() - began).toBeLessThan(2_000)
})

it('ends at once when the operator lists no origin any more', async () => {
  await changeRegistry(acting(server.database), { namespace: 'civil', web_origins: [] })
  server.clock.pass(5_000)
  expect((await preflight('/oauth2/client/token', LISTED)).status).toBe(405)
  expect(headersOf(await search('civil', LISTED))).toEqual(NONE)
})

it('refuses what is no origin', async () => {
  await expect(changeRegistry(acting(server.database), { namespace: 'civil', web_origins: ['*'] })).rejects.toThrow(
    'the origin "*" must be an origin in lower case such as https://app.example, without a path; only the port may be *',
  )
})
