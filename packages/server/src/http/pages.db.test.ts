import { afterAll, beforeAll, expect, it } from 'vitest'
import { query } from '../../../database/test/statement.ts'
import { rawConnection } from '../../../engine/test/raw-http.ts'
import { expectFault } from '../../test/expectations.ts'
import { answerOf, bearer, post, searchRequest, type TestServer, testServer } from '../../test/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [])
  await server.registry('farmer', [], 'north-farmers')
})

afterAll(() => server.close())

const get = async (url: string) => answerOf(await fetch(url))

it('tells whether the process is well', async () => {
  expect((await get(`${server.url}/health`)).body).toEqual({ status: 'ok' })
})

it('is ready when the database answers', async () => {
  const answer = await get(`${server.url}/ready`)
  expect([answer.status, answer.body]).toEqual([200, { status: 'ready' }])
})

it('shows metrics on the operator listener only, without anything a peer sent', async () => {
  const peer = await server.participant('metrics.demo')
  await post(
    `${server.url}/civil/v1.0.0/registry/sync/search`,
    searchRequest('metrics.demo', { type: 'UIN', value: 'secret-7' }),
    bearer(peer),
  )
  const answer = await get(`${server.adminUrl}/metrics`)
  expect(answer.body).toMatch(/rollcall_request_seconds_count\{route="search",mode="sync",status="200",outcome="done"\} 1/)
  expect(answer.body).toMatch(/rollcall_items_total\{operation="search",status="succ",code="none"\} 1/)
  expect(answer.body).toContain('rollcall_database_breaker 0')
  expect(answer.body).toMatch(/rollcall_database_connections\{state="total"\} [1-9]/)
  expect(answer.body).not.toMatch(/secret-7|metrics\.demo/)
  expect((await get(`${server.url}/metrics`)).status).toBe(404)
})

it('shows metrics under a name of its own alone; health and readiness under any', async () => {
  const asked = async (path: string, host: string) => {
    const raw = await rawConnection(server.running.adminPort)
    raw.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    const { status, body } = await raw.response()
    raw.destroy()
    return { status, body }
  }
  const refused = await asked('/metrics', 'evil.example')
  expect([refused.status, JSON.parse(refused.body).message.error]).toEqual([
    421,
    { code: 'err.request.bad', message: 'Host: is not the address of this listener, nor one of ROLLCALL_ADMIN_HOSTS' },
  ])
  expect((await asked('/metrics', 'localhost')).status).toBe(200)
  for (const path of ['/health', '/ready']) expect((await asked(path, 'evil.example')).status).toBe(200)
})

it('describes each registry by its own OpenAPI document', async () => {
  const { body } = await get(`${server.url}/north-farmers/v1.0.0/openapi.json`)
  expect(body.openapi).toMatch(/^3\.1\./)
  expect(body.servers).toEqual([expect.objectContaining({ url: '/north-farmers/v1.0.0' })])
  expect(Object.keys(body.paths)).toEqual([
    '/registry/sync/search',
    '/registry/search',
    '/registry/subscribe',
    '/registry/unsubscribe',
    '/registry/sync/txn/status',
    '/registry/txn/status',
    '/registry/on-search',
    '/registry/on-subscribe',
    '/registry/on-unsubscribe',
    '/registry/txn/on-status',
    '/registry/notify',
    '/oauth2/client/token',
  ])
  expect((await get(`${server.url}/nowhere/v1.0.0/openapi.json`)).status).toBe(404)
})

it('shows a reference page that loads nothing from elsewhere', async () => {
  const response = await fetch(`${server.url}/civil/v1.0.0/docs`)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  const page = await response.text()
  expect(page).toContain('<title>Rollcall: Civil registry (civil)</title>')
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '')
  for (const address of loaded.filter((link) => !link.startsWith('data:'))) {
    expect(address).toMatch(/^\/(?!\/)/)
    expect((await fetch(`${server.url}${address}`)).status).toBe(200)
  }
})

it.each([
  '/assets/site/',
  '/assets/site/page.ts',
  '/assets/reference/',
  '/assets/reference/../../package.json',
  '/assets/reference/%2e%2e/package.json',
  '/assets',
])('serves no other file: %s', async (path) => {
  expect((await get(`${server.url}${path}`)).status).toBe(404)
})

it('answers 503 while the database is away, and 200 again after', async () => {
  const lonely = await testServer()
  const peer = await lonely.participant('spmis.demo')
  await lonely.registry('civil', [])
  const url = `${lonely.url}/civil/v1.0.0/registry/sync/search`
  const send = () => post(url, searchRequest('spmis.demo', { type: 'UIN', value: '1' }), bearer(peer))
  expect((await send()).status).toBe(200)
  const { connection } = lonely.database
  const database = connection.database
  await query(
    server.database.owner,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = $1 and backend_type = 'client backend'`,
    [database],
  )
  await query(server.database.owner, `alter database ${database} rename to ${database}_away`)
  try {
    const answer = await send()
    expect([answer.status, answer.body.message.error]).toEqual([
      503,
      { code: 'err.service.unavailable', message: 'the registry cannot be read at the moment; try again later' },
    ])
    expect((await get(`${lonely.url}/ready`)).status).toBe(503)
    expect((await get(`${lonely.url}/health`)).status).toBe(200)
  } finally {
    await query(server.database.owner, `alter database ${database}_away rename to ${database}`)
  }
  expect((await send()).status).toBe(200)
  await lonely.close()
})

it("the operator's port says that peers call the other one", async () => {
  const answer = await post(`${server.adminUrl}/oauth2/client/token`, 'grant_type=client_credentials', {
    'Content-Type': 'application/x-www-form-urlencoded',
  })
  expectFault(answer, 404, 'err.request.not_found', "this is the operator's port of the server: peers call the other one")
})
