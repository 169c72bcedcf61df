import { randomUUID } from 'node:crypto'
import { addOperator, type OperatorRole, revokeOperator } from '@rollcall/admin/operators/operators'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { rawConnection } from '../../../../engine/test/raw-http.ts'
import { answerOf, type TestServer, testServer } from '../../../test/server.ts'
import { ADMIN_BASE, type DescribedCall, pathMembers } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'
import { SESSION_CALLS } from './session-calls.ts'

let server: TestServer
/** A token for each role, not bound to registries. */
const tokens: Record<string, string> = {}

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  await server.registry('social')
  await server.participant('spmis.example')
  for (const role of ['read', 'publish', 'own'] as const) tokens[role] = await tokenOf(role, { roles: [role] })
})
afterAll(() => server.close())

async function tokenOf(
  name: string,
  { roles, registries }: { roles: readonly OperatorRole[]; registries?: readonly string[] },
): Promise<string> {
  return (await addOperator(acting(server.database), { name, roles, registries })).token
}

interface Asked {
  readonly token?: string | undefined
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

async function ask(path: string, { token = tokens.read, method = 'GET', headers = {}, body }: Asked = {}) {
  const response = await fetch(`${server.adminUrl}${ADMIN_BASE}${path}`, {
    method,
    headers: { ...(token !== '' && { Authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body }),
  })
  return answerOf(response)
}

const refusal = async (path: string, asked: Asked = {}) => {
  const { status, body } = await ask(path, asked)
  const [error] = body.errors
  return `${status} ${error.code} ${error.message}`
}

it('answers with what the use case says', async () => {
  const { status, headers, body } = await ask('/participants')
  expect([status, headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([200, 'no-store', null])
  expect(body).toMatchObject([{ sender_id: 'spmis.example', status: 'active' }])
  expect((await ask('/registries')).body.map(({ namespace }: { namespace: string }) => namespace)).toEqual(['civil', 'social'])
  expect((await ask('/deliveries?limit=5&state=dead&participant=spmis.example')).body).toEqual([])
})

describe('who calls', () => {
  it.each([
    ['no token', { token: '' }, 'Authorization: a bearer token is required'],
    [
      'another scheme',
      { token: '', headers: { Authorization: 'Basic cm9vdDo=' } },
      'Authorization: must be "Bearer" and an access token',
    ],
    [
      'an unknown token',
      { token: `rollcall_1_${'A'.repeat(43)}` },
      'Authorization: the operator token is not valid here, has expired or was revoked',
    ],
  ])('%s is 401', async (_name, asked, message) => {
    expect(await refusal('/participants', asked)).toBe(`401 err.request.unauthorized ${message}`)
  })

  it('is nobody any more once the token is revoked', async () => {
    const token = await tokenOf('leaver', { roles: ['read'] })
    expect((await ask('/participants', { token })).status).toBe(200)
    await revokeOperator(acting(server.database), { name: 'leaver' })
    expect(await refusal('/participants', { token })).toBe(
      '401 err.request.unauthorized Authorization: the operator token is not valid here, has expired or was revoked',
    )
  })

  it('is no participant: its access token is none here, and an operator token is none there', async () => {
    const peer = await server.participant('peer.example')
    expect(await refusal('/participants', { token: peer.token })).toMatch(/^401 /)
    const response = await fetch(`${server.url}/civil/v1.0.0/registry/sync/search`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tokens.own}`, 'Content-Type': 'application/json' },
      body: '{}',
    })
    expect(response.status).toBe(401)
    expect((await fetch(`${server.url}${ADMIN_BASE}/participants`)).status).toBe(404)
  })

  it('needs the role of the call', async () => {
    expect(await refusal('/participants', { token: tokens.publish })).toBe(
      '403 err.request.forbidden this call needs the role read',
    )
    expect((await ask('/participants', { token: tokens.own })).status).toBe(200)
  })

  it('with a token that is bound to registries has no call that is of all', async () => {
    const token = await tokenOf('bound', { roles: ['own'], registries: ['civil'] })
    expect(await refusal('/participants', { token })).toBe('403 err.request.forbidden the token is bound to other registries')
    expect((await ask('/subscriptions?namespace=civil', { token })).body).toEqual([])
    expect(await refusal('/subscriptions?namespace=social', { token })).toBe(
      '403 err.request.forbidden the token is bound to other registries',
    )
    expect(await refusal('/subscriptions', { token })).toMatch(/^403 /)
    expect(await refusal('/subscriptions?namespace=civil&namespace=social', { token })).toMatch(/^403 /)
  })

  it('with a token that is bound to registries does not learn which others there are', async () => {
    const token = await tokenOf('bound-to-civil', { roles: ['read'], registries: ['civil'] })
    expect((await ask('/registries/civil/events', { token })).status).toBe(200)
    for (const namespace of ['social', 'nowhere']) {
      for (const path of [`/registries/${namespace}/events`, `/subscriptions?namespace=${namespace}`]) {
        expect(await refusal(path, { token })).toBe('403 err.request.forbidden the token is bound to other registries')
      }
    }
    expect(await refusal('/registries/nowhere/events')).toBe('404 err.request.not_found there is no such namespace or path here')
  })
})

describe('what is asked', () => {
  it.each<[string, Asked, string]>([
    ['/deliveries?limit=0', {}, '400 err.request.bad limit: must be at least 1'],
    ['/deliveries?limit=many', {}, '400 err.request.bad limit: must be a whole number'],
    ['/deliveries?limit=1&limit=2', {}, '400 err.request.bad limit: must be given once'],
    [
      '/deliveries?since=yesterday',
      {},
      '400 err.request.bad since: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z',
    ],
    ['/deliveries?body=true', {}, '400 err.request.bad body: is not a known member'],
    ['/deliveries?%3Cscript%3E=1', {}, '400 err.request.bad a member: is not a known member'],
    [
      '/deliveries/3b241101-e2bb-4255-8caf-4136c566a962',
      {},
      '404 err.request.not_found there is no delivery 3b241101-e2bb-4255-8caf-4136c566a962',
    ],
    ['/deliveries/3b241101-e2bb-4255-8caf-4136c566a962?body=true', {}, '400 err.request.bad body: is not a known member'],
    ['/nothing', {}, '404 err.request.not_found there is no such namespace or path here'],
    ['/retention/ages', { method: 'DELETE' }, '405 err.request.bad the method must be GET or HEAD'],
    ['/retention/ages', { method: 'OPTIONS' }, '405 err.request.bad the method must be GET or HEAD'],
  ])('%s %j is refused', async (path, asked, expected) => {
    expect(await refusal(path, asked)).toBe(expected)
  })
})

it.each([
  ['/accounts?participant=%00', 'participant'],
  ['/messages?operation=a%00b', 'operation'],
  ['/messages/%00/evidence', 'message_id'],
  ['/registries/civil/source/rejects?after=%00', 'after'],
])('%s is refused: no text of a path or a query has a NUL', async (path, member) => {
  expect(await refusal(path, { token: tokens.own })).toBe(`400 err.request.bad ${member}: the text has a NUL character`)
})

it.each(['/deliveries?since', '/registries/civil/events?until', '/messages?since', '/messages?until', '/accounts?from'])(
  '%s takes a leap second',
  async (path) => {
    expect((await ask(`${path}=2016-12-31T23:59:60Z`)).status).toBe(200)
  },
)

describe('protected persons, holds, records and retention', () => {
  const post = (path: string, role: string, body: object) =>
    ask(path, {
      method: 'POST',
      token: tokens[role],
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    })
  const UIN = { identifier_type: 'UIN', identifier_value: '31' }

  it('are read and changed by the roles of their rows', async () => {
    const roles = ['audit', 'operate'] as const
    for (const role of roles) tokens[role] = await tokenOf(role, { roles: [role] })
    const at = '/registries/civil/protected-persons'
    const given = { ...UIN, category: 'shelter', reason: 'order 7' }
    expect((await post(at, 'audit', given)).status).toBe(403)
    expect(await post(at, 'operate', given)).toMatchObject({ status: 201, body: { category: 'shelter' } })
    expect((await ask(at, { token: tokens.operate })).status).toBe(403)
    expect((await ask(at, { token: tokens.audit })).body).toMatchObject([{ identifier_value: null }])
    expect((await ask(`${at}?identifiers=true`, { token: tokens.audit })).body).toMatchObject([
      { identifier_value: '31', reason: 'order 7' },
    ])
    expect((await post(`${at}/lift`, 'operate', UIN)).status).toBe(403)
    expect((await post(`${at}/lift`, 'own', UIN)).status).toBe(200)
    const record = { type: 'UIN', value: 'nobody' }
    expect((await post('/registries/civil/records/get', 'read', record)).status).toBe(403)
    expect((await post('/registries/civil/records/get', 'audit', record)).status).toBe(404)
    const hold = { participant: 'spmis.example', reason: 'case 7/2026' }
    expect((await post('/holds', 'read', hold)).status).toBe(403)
    const { status, body } = await post('/holds', 'operate', hold)
    expect([status, body.kind]).toEqual([201, 'participant'])
    expect((await ask('/holds')).body).toMatchObject([{ id: body.id, reason: 'case 7/2026' }])
    expect((await post(`/holds/${body.id}/remove`, 'operate', {})).status).toBe(403)
    expect((await post('/holds/first/remove', 'own', {})).status).toBe(400)
    expect((await post(`/holds/${body.id}/remove`, 'own', {})).body).toEqual({ id: body.id })
    expect((await ask('/retention/ages')).body).toContainEqual(expect.objectContaining({ name: 'accounts' }))
    expect((await ask('/retention/prunable')).status).toBe(403)
    expect((await ask('/retention/prunable', { token: tokens.operate })).body).toMatchObject({
      dry_run: true,
      accounts: { deleted: 0, held: 0 },
    })
  })
})

it('answers under names of its own alone', async () => {
  const raw = await rawConnection(server.running.adminPort)
  raw.write(`GET ${ADMIN_BASE}/participants HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${tokens.read}\r\n\r\n`)
  const { status, body } = await raw.response()
  raw.destroy()
  expect([status, JSON.parse(body).errors]).toEqual([
    421,
    [{ code: 'err.request.bad', message: 'Host: is not the address of this listener, nor one of ROLLCALL_ADMIN_HOSTS' }],
  ])
})

it('logs who called what and how it ended, never what was sent', async () => {
  const secret = randomUUID()
  await ask(`/deliveries?participant=${secret}`)
  await ask(`/${secret}`)
  await ask('/retention/ages', { method: 'DELETE' })
  const lines = server
    .logged()
    .split('\n')
    .filter((line) => line.includes('admin call'))
    .map((line) => JSON.parse(line))
  expect(lines).toContainEqual(expect.objectContaining({ call: 'listParticipants', operator: 'read', outcome: 'done' }))
  expect(lines).toContainEqual(
    expect.objectContaining({ call: 'listDeliveries', operator: 'read', outcome: 'refused', status: 400 }),
  )
  expect(lines).toContainEqual(
    expect.objectContaining({ call: 'listParticipants', operator: null, outcome: 'refused', status: 401 }),
  )
  for (const { ms } of lines) expect(ms).toEqual(expect.any(Number))
  for (const [call, status] of [
    [null, 404],
    ['showRetention', 405],
  ] as const) {
    expect(lines).toContainEqual(expect.objectContaining({ call, operator: null, outcome: 'refused', status }))
  }
  expect(server.logged()).not.toContain(secret)
  expect(server.logged()).not.toContain(tokens.read)
})

describe('the OpenAPI document', () => {
  const CALLS: readonly DescribedCall[] = [...ADMIN_ROUTES, ...Object.values(SESSION_CALLS)]

  it('describes every call, with its path, its input and its answers', async () => {
    const { status, body } = await ask('/openapi.json', { token: tokens.publish })
    expect([status, body.openapi]).toEqual([200, '3.1.0'])
    const described = Object.entries<Record<string, Described>>(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    expect(described.map(({ path, method, operation }) => [method, path, operation.operationId])).toEqual(
      CALLS.map(({ method, path, name }) => [method.toLowerCase(), `${ADMIN_BASE}${path}`, name]),
    )
    for (const [at, { operation }] of described.entries()) {
      const { input, result, status, hidden, ...route } = CALLS[at] as DescribedCall
      const { properties = {} } = input as { properties?: Record<string, unknown> }
      const inBody = operation.requestBody?.content['application/json'].schema.properties ?? {}
      const named = [...operation.parameters.map(({ name }) => name), ...Object.keys(inBody)]
      expect(named.toSorted()).toEqual(
        Object.keys(properties)
          .filter((name) => !hidden.includes(name))
          .toSorted(),
      )
      expect(operation.parameters.filter((row) => row.in === 'path').map(({ name }) => name)).toEqual(pathMembers(route))
      expect(operation.responses[status]?.content?.['application/json']?.schema).toEqual(JSON.parse(JSON.stringify(result)))
    }
  })

  it('needs a token as well', async () => {
    expect(await refusal('/openapi.json', { token: '' })).toMatch(/^401 /)
  })
})

interface Described {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly properties: object } } }
  }
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: { readonly schema: object } } }>
  >
}
