import { generateKeyPairSync } from 'node:crypto'
import { addOperator, revokeOperator } from '@rollcall/admin/operators/operators'
import { listSessions } from '@rollcall/admin/operators/sessions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { testClock } from '../../../../observe/test/clock.ts'
import { type Bent, CLIENT, type TestProvider, testProvider } from '../../../test/openid-provider.ts'
import { type TestServer, testServer } from '../../../test/server.ts'
import { OPENID_START_PATH } from './openid-routes.ts'

let provider: TestProvider
let server: TestServer
const clock = testClock()
const CONSOLE_URL = 'https://console.example.org'
const CALLBACK = `${OPENID_START_PATH}/callback`

beforeAll(async () => {
  provider = await testProvider()
  server = await testServer(
    {
      ROLLCALL_OIDC_ISSUER: provider.issuer,
      ROLLCALL_OIDC_CLIENT_ID: CLIENT.id,
      ROLLCALL_OIDC_CLIENT_SECRET: CLIENT.secret,
      ROLLCALL_OIDC_ROLES: 'registry-desk=operate,registry-desk=publish,inspectors=audit',
      ROLLCALL_OIDC_ROLE_CLAIM: 'realm.groups',
      ROLLCALL_OIDC_TITLE: 'Ministry login',
      ROLLCALL_CONSOLE_URL: CONSOLE_URL,
    },
    clock,
  )
  server.closing(provider)
})
afterAll(() => server.close())

const DESK = { realm: { groups: ['staff', 'registry-desk'] } }

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.adminUrl}${path}`, { redirect: 'manual', headers })

/** `name=value` of the cookies that an answer sets, without those that it ends. */
const cookiesOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .flatMap((cookie) => (cookie.includes('Max-Age=0') ? [] : [cookie.split(';')[0]]))
    .join('; ')

/** The browser goes to the provider. */
async function begun() {
  const answer = await get(OPENID_START_PATH, { 'Sec-Fetch-Site': 'same-origin' })
  expect(answer.status).toBe(302)
  return { address: answer.headers.get('location') ?? '', cookie: cookiesOf(answer) }
}

/** Goes there, and comes back. */
async function comeBack(bent: Bent = { claims: DESK }) {
  const { address, cookie } = await begun()
  const query = provider.authorize(address, bent)
  return { query, cookie, answer: await get(`${CALLBACK}${query}`, { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' }) }
}

async function refusal(answer: Response): Promise<string> {
  clock.pass(60_000)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(cookiesOf(answer)).toBe('')
  return `${answer.status} ${/<p>(.*?)<\/p>/.exec(await answer.text())?.[1]}`
}

const session = (cookie: string) => get('/admin/v1/session', { Cookie: cookie, 'Rollcall-Console': '1' })

const UNCONFIRMED = '401 the provider of OpenID Connect did not confirm who you are; sign in again.'

it('the page offers it, and it leads to the provider with state, nonce and PKCE', async () => {
  expect(await (await session('')).json()).toMatchObject({
    sign_in: [{ method: 'token' }, { method: 'openid', title: 'Ministry login', start: OPENID_START_PATH }],
  })
  const answer = await get(OPENID_START_PATH)
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^rollcall_openid=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/),
  ])
  const address = new URL(answer.headers.get('location') ?? '')
  expect(`${address.origin}${address.pathname}`).toBe(`${provider.issuer}/authorize`)
  expect(Object.fromEntries(address.searchParams)).toEqual({
    client_id: CLIENT.id,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: `${CONSOLE_URL}${CALLBACK}`,
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
})

it('whoever comes back is signed in, with the roles of the claim, until the name is revoked', async () => {
  const { answer } = await comeBack()
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
  const cookies = answer.headers.getSetCookie()
  expect(cookies).toEqual([
    'rollcall_openid=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    expect.stringMatching(/^rollcall_session=\d+_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
  ])
  const cookie = cookiesOf(answer)
  expect(await (await session(cookie)).json()).toMatchObject({
    operator: 'oidc:amina',
    roles: ['read', 'publish', 'consent', 'operate'],
    registries: null,
  })
  const deps = { ...server.database, clock, limits: server.context.limits }
  expect(await listSessions(deps, {})).toMatchObject([{ name: 'oidc:amina', provider: provider.issuer }])
  const entries = await get('/admin/v1/accounts', { Cookie: cookie, 'Rollcall-Console': '1' })
  expect(await entries.json()).toMatchObject([{ operator: 'oidc:amina', note: 'operator sign-in by OpenID Connect' }])
  expect(await revokeOperator(acting(server.database), { name: 'oidc:amina' })).toEqual({
    name: 'oidc:amina',
    sessions: 1,
    proposals: 0,
  })
  expect((await session(cookie)).status).toBe(401)
})

describe('nobody enters', () => {
  it.each<[string, Bent, string]>([
    ['without a role here', {}, '401 your account at the provider has no role here; ask whoever manages the operators.'],
    [
      'with a role of another claim',
      { claims: { groups: ['registry-desk'], 'realm.groups': 1 } },
      '401 your account at the provider has no role here; ask whoever manages the operators.',
    ],
    [
      'with the name of a member that every object has',
      { claims: { realm: { groups: ['constructor', '__proto__'] } } },
      '401 your account at the provider has no role here; ask whoever manages the operators.',
    ],
    ['with the nonce of another sign-in', { claims: { ...DESK, nonce: 'x' } }, UNCONFIRMED],
    ['with a token for another client', { claims: { ...DESK, aud: 'another' } }, UNCONFIRMED],
    ['with a token of another provider', { claims: { ...DESK, iss: 'https://other.example' } }, UNCONFIRMED],
    ['with a token that has expired', { claims: { ...DESK, exp: 1 } }, UNCONFIRMED],
    ['with a token of another key', { claims: DESK, signed: 'by another key' }, UNCONFIRMED],
    ['with a token without a signature', { claims: DESK, signed: 'not at all' }, UNCONFIRMED],
    [
      'with a name that the audit log cannot store',
      { claims: { ...DESK, sub: 'a\nb' } },
      '401 the provider of OpenID Connect gave no name that the audit log can store (ROLLCALL_OIDC_NAME_CLAIM).',
    ],
  ])('%s', async (_name, bent, message) => {
    expect(await refusal((await comeBack(bent)).answer)).toBe(message)
  })

  it('without the cookie of the browser that began', async () => {
    const { address } = await begun()
    expect(await refusal(await get(`${CALLBACK}${provider.authorize(address, { claims: DESK })}`))).toBe(
      '401 this browser has begun no sign-in, or it took more than 10 minutes.',
    )
  })

  it('with the cookie of another browser, such as the one that an attacker leads to its own sign-in', async () => {
    const [victim, attacker] = [await begun(), await begun()]
    const query = provider.authorize(attacker.address, { claims: DESK })
    expect(await refusal(await get(`${CALLBACK}${query}`, { Cookie: victim.cookie }))).toBe(UNCONFIRMED)
    const twice = { Cookie: `${victim.cookie}; ${attacker.cookie}` }
    expect(await refusal(await get(`${CALLBACK}${query}`, twice))).toBe('400 Cookie: rollcall_openid must be sent once.')
  })

  it('a second time with the same code', async () => {
    const { query, cookie } = await comeBack()
    expect(await refusal(await get(`${CALLBACK}${query}`, { Cookie: cookie }))).toBe(UNCONFIRMED)
  })

  it.each(['?error=access_denied&error_description=%3Cscript%3E', '?code=x', '', '?code=x&code=y&state=z'])(
    'with the answer %j',
    async (query) => {
      const { cookie } = await begun()
      const answer = await get(`${CALLBACK}${query}`, { Cookie: cookie })
      expect(await refusal(answer)).toBe(UNCONFIRMED)
    },
  )

  it('where another page has sent the browser to the provider', async () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(await refusal(await get(OPENID_START_PATH, { 'Sec-Fetch-Site': site }))).toBe(
        '403 a sign-in begins at the page of the console.',
      )
    }
  })

  it('but nobody is kept out by a page that leads the browser to the end of a sign-in that it has not begun', async () => {
    await Promise.all(Array.from({ length: 700 }, () => get(CALLBACK)))
    expect((await comeBack()).answer.status).toBe(303)
    // It is no failure of the address either, of which token requests would be refused.
    expect((await get('/admin/v1/participants', { Authorization: 'Bearer wrong' })).status).toBe(401)
    clock.pass(60_000)
  })

  it.each(['status', 'connection'] as const)(
    'while the provider fails (%s), which is no failure of the person',
    async (outage) => {
      const { address, cookie } = await begun()
      const query = provider.authorize(address, { claims: DESK })
      provider.outage = outage
      const answers = await Promise.all(Array.from({ length: 11 }, () => get(`${CALLBACK}${query}`, { Cookie: cookie })))
      provider.outage = null
      for (const answer of answers) {
        expect(await refusal(answer)).toBe('503 the provider of OpenID Connect does not answer; try again later.')
      }
      expect((await comeBack()).answer.status).toBe(303)
    },
  )

  it('after too many failures, until a minute is over', async () => {
    const { cookie } = await begun()
    const failures = Array.from({ length: 10 }, () => get(CALLBACK, { Cookie: cookie }))
    await Promise.all(failures)
    expect(await refusal((await comeBack()).answer)).toBe('429 too many sign-ins from this address have failed; try again later.')
    expect((await comeBack()).answer.status).toBe(303)
  })
})

it('a session ends an hour after the sign-in: then the provider is asked for the roles again', async () => {
  const { answer } = await comeBack()
  const cookie = cookiesOf(answer)
  const { expires_at } = (await (await session(cookie)).json()) as { expires_at: string }
  expect(Date.parse(expires_at) - clock.date()).toBe(3_600_000)
  for (const minutes of [20, 20, 19]) {
    clock.pass(minutes * 60_000)
    expect((await session(cookie)).status).toBe(200)
  }
  clock.pass(60_000)
  expect((await session(cookie)).status).toBe(401)
})

describe('where the provider names registries, the console has a key, and names may be changed', () => {
  let own: Awaited<ReturnType<typeof named>>
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })

  async function named() {
    const provider = await testProvider(key.publicKey)
    const server = await testServer({
      ROLLCALL_OIDC_ISSUER: provider.issuer,
      ROLLCALL_OIDC_CLIENT_ID: CLIENT.id,
      ROLLCALL_OIDC_CLIENT_KEY: JSON.stringify({ ...key.privateKey.export({ format: 'jwk' }), kid: 'c-1' }),
      ROLLCALL_OIDC_ROLES: 'desk=operate',
      ROLLCALL_OIDC_NAME_CLAIM: 'preferred_username',
      ROLLCALL_OIDC_REGISTRY_CLAIM: 'access.registries',
      ROLLCALL_CONSOLE_URL: CONSOLE_URL,
    })
    server.closing(provider)
    for (const namespace of ['civil', 'social']) await server.registry(namespace)
    return { provider, server }
  }
  beforeAll(async () => {
    own = await named()
  })
  afterAll(() => own.server.close())

  const ask = (path: string, Cookie = '') =>
    fetch(`${own.server.adminUrl}${path}`, { redirect: 'manual', headers: { Cookie, 'Rollcall-Console': '1' } })

  /** @param registries what the claim holds */
  async function signedIn(registries: unknown, more: object = {}) {
    const begun = await ask(OPENID_START_PATH)
    const claims = { roles: 'desk', preferred_username: 'amina', access: { registries }, ...more }
    const query = own.provider.authorize(begun.headers.get('location') ?? '', { claims })
    const answer = await ask(`${CALLBACK}${query}`, cookiesOf(begun))
    return { answer, cookie: cookiesOf(answer) }
  }
  const sessionOf = async (cookie: string) =>
    (await (await ask('/admin/v1/session', cookie)).json()) as {
      readonly operator: string
      readonly registries: readonly string[] | null
    }

  it('an operator is bound to those that there are here', async () => {
    const { answer, cookie } = await signedIn(['civil', 'elsewhere'])
    expect(answer.status).toBe(303)
    expect((await sessionOf(cookie)).registries).toEqual(['civil'])
    const events = async (namespace: string) => (await ask(`/admin/v1/registries/${namespace}/events`, cookie)).status
    expect([await events('civil'), await events('social')]).toEqual([200, 403])
    expect((await ask('/admin/v1/participants', cookie)).status).toBe(403)
  })

  it('a star is for all of them', async () => {
    expect((await sessionOf((await signedIn('*')).cookie)).registries).toBe(null)
  })

  it.each([[undefined], [[]], [['elsewhere']], [[1]], [{ civil: true }]])(
    'nobody enters for no registry: %j',
    async (registries) => {
      const { answer } = await signedIn(registries)
      expect(await refusal(answer)).toBe(
        '401 your account at the provider is for no registry here; ask whoever manages the operators.',
      )
    },
  )

  it('a name that looks like two is quoted', async () => {
    const claims = { sub: 'u-3', preferred_username: 'ada, approved by bea' }
    const { operator } = await sessionOf((await signedIn('*', claims)).cookie)
    expect(operator).toMatch(/^oidc:"ada, approved by bea"~[0-9a-f]{12}$/)
  })

  it('a name that turns round what is beside it is quoted, with the number of the character', async () => {
    const claims = { sub: 'u-4', preferred_username: 'ada\u202E' }
    const { operator } = await sessionOf((await signedIn('*', claims)).cookie)
    expect(operator).toMatch(/^oidc:"ada\\u\{202e\}"~[0-9a-f]{12}$/)
  })

  it('two users of the same name are two operators', async () => {
    const names: string[] = []
    for (const sub of ['u-1', 'u-2', 'u-1']) {
      names.push((await sessionOf((await signedIn('*', { sub })).cookie)).operator)
    }
    for (const name of names) expect(name).toMatch(/^oidc:amina~[0-9a-f]{12}$/)
    expect(names[0]).toBe(names[2])
    expect(names[0]).not.toBe(names[1])
    expect(await revokeOperator(acting(own.server.database), { name: names[0] ?? '' })).toEqual({
      name: names[0],
      sessions: 2,
      proposals: 0,
    })
    const left = await listSessions({ ...own.server.database, limits: own.server.context.limits }, {})
    expect(left.map(({ name }) => name)).toContain(names[1])
  })
})

it.each([...['ada, approved by bea', 'ada; approved by bea', 'ada\nbea', 'ada\u202Eaeb', 'ada\u200B', 'ada\u2028bea']])(
  'a token is not named %j',
  async (name) => {
    await expect(addOperator(acting(server.database), { name, roles: ['own'] })).rejects.toThrow(
      'name: must have no comma, semicolon, control character or invisible character',
    )
  },
)

it.each(['rollcall demo', 'Rollcall', ' rollcall outbox'])('a token is not named %j, as Rollcall itself', async (name) => {
  await expect(addOperator(acting(server.database), { name, roles: ['own'] })).rejects.toThrow(
    'name: must not begin with rollcall, as the names do that Rollcall gives itself',
  )
})

it('a token has no name as the provider gives them', async () => {
  await expect(addOperator(acting(server.database), { name: 'oidc:amina', roles: ['own'] })).rejects.toThrow(
    'name: must not begin with oidc:, as the names do that a provider of OpenID Connect gives',
  )
})

it('the log has no code, no secret and no token', async () => {
  const { query, cookie, answer } = await comeBack()
  for (const secret of [
    query.slice(6, 42),
    cookie.split('=')[1],
    cookiesOf(answer).replace(/^rollcall_session=\d+_/, ''),
    CLIENT.secret,
  ]) {
    expect(secret?.length).toBeGreaterThan(10)
    expect(server.logged()).not.toContain(secret)
  }
})

it('where the provider does not answer, or names no page to sign in, the page says so', async () => {
  const pageless = await testProvider(undefined, { authorization_endpoint: undefined })
  server.closing(pageless)
  for (const issuer of ['http://127.0.0.1:1', pageless.issuer]) {
    const away = await testServer({
      ROLLCALL_OIDC_ISSUER: issuer,
      ROLLCALL_OIDC_CLIENT_ID: CLIENT.id,
      ROLLCALL_OIDC_CLIENT_SECRET: CLIENT.secret,
      ROLLCALL_OIDC_ROLES: 'a=read',
      ROLLCALL_CONSOLE_URL: CONSOLE_URL,
    })
    server.closing(away)
    const answer = await fetch(`${away.adminUrl}${OPENID_START_PATH}`, { redirect: 'manual' })
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('the provider of OpenID Connect does not answer; try again later.')
  }
})
