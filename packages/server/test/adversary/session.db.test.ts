/** An attacker tries to use the session of an operator's browser. */

import { addOperator, type OperatorRole, revokeOperator } from '@rollcall/admin/operators/operators'
import { makeSignInLink } from '@rollcall/admin/operators/sessions'
import { hasRole } from '@rollcall/core/model/operator'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { testClock } from '../../../observe/test/clock.ts'
import { ADMIN_BASE, type AdminRoute } from '../../src/http/admin/route.ts'
import { ADMIN_ROUTES } from '../../src/http/admin/routes.ts'
import { type Sent as Request, rawCall } from '../raw-call.ts'
import { type TestServer, testServer } from '../server.ts'

let server: TestServer
let behindProxy: TestServer
const clock = testClock()

beforeAll(async () => {
  server = await testServer({}, clock)
  await server.registry('civil')
  behindProxy = await testServer({ ROLLCALL_BEHIND_TLS_PROXY: '1', ROLLCALL_ADMIN_HOSTS: 'console.example.org' })
})
afterAll(() => Promise.all([server.close(), behindProxy.close()]))

interface Sent extends Request {
  readonly at?: TestServer
}

/** Sends a request by hand. */
const send = (path: string, { at = server, ...sent }: Sent = {}) =>
  rawCall(at.running.adminPort, path, { 'Rollcall-Console': '1' }, sent)

let made = 0
async function token(roles: readonly OperatorRole[] = ['own'], at = server) {
  made += 1
  const name = `operator-${made}`
  return addOperator(acting(at.database), { name, roles })
}

const SESSION = `${ADMIN_BASE}/session`
const signIn = (shown: object, more: Sent = {}) => send(SESSION, { method: 'POST', body: JSON.stringify(shown), ...more })

/** The cookie of a new session. */
async function session(roles?: readonly OperatorRole[]): Promise<string> {
  const { cookie } = await signIn({ token: (await token(roles)).token })
  return cookie?.split(';')[0] ?? ''
}

const asked = (Cookie: string, headers: Sent['headers'] = {}) =>
  send(`${ADMIN_BASE}/participants`, { headers: { Cookie, ...headers } })

const ENDED = '401 err.request.unauthorized Cookie: the session has ended; sign in again'
it('the log has the address of the browser, as the proxy says it, and not what somebody else says', async () => {
  const lines = (at: TestServer) =>
    at
      .logged()
      .split('\n')
      .filter((line) => line.includes('"admin call"'))
      .map((line) => JSON.parse(line).address)
  await send(`${ADMIN_BASE}/participants`, { at: behindProxy, headers: { 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' } })
  await vi.waitFor(() => expect(lines(behindProxy)).toContain('203.0.113.7'), 60_000)
  expect(lines(behindProxy)).not.toContain('198.51.100.1')
  await send(`${ADMIN_BASE}/participants`, { headers: { 'X-Forwarded-For': '203.0.113.7' } })
  await vi.waitFor(() => expect(lines(server).length).toBeGreaterThan(0), 60_000)
  expect(lines(server)).not.toContain('203.0.113.7')
})

const NOT_CONSOLE = '403 err.request.forbidden Rollcall-Console: must be 1, or poll, in a call with the cookie of a session'
const OTHER_SITE = '403 err.request.forbidden Sec-Fetch-Site: a session is for the pages of the console alone'

const OTHER_ORIGIN =
  '403 err.request.forbidden Origin: must be the address in Host: a session is for the pages of the console alone'

const pathOf = ({ path }: AdminRoute): string =>
  `${ADMIN_BASE}${path.replace('{namespace}', 'civil').replaceAll(/\{\w+\}/g, '1')}`
/** Input that no call accepts: one that was admitted by mistake changes nothing. */
const wrong = ({ method }: AdminRoute): Sent => (method === 'GET' ? {} : { method, body: '{"none":"of the members"}' })

describe('a session that somebody else prepared', () => {
  it.each([
    ['made up', async () => `rollcall_session=1_${'A'.repeat(43)}`],
    ['of the attacker', () => session()],
  ])('is not taken over at a sign-in: %s', async (_name, prepare) => {
    const before = await prepare()
    const { status, cookie } = await signIn({ token: (await token()).token }, { headers: { Cookie: before } })
    expect([status, cookie?.startsWith(`${before};`)]).toEqual([201, false])
    expect((await asked(before)).error).toBe(ENDED)
    expect((await asked(cookie?.split(';')[0] ?? '')).status).toBe(200)
  })

  it('is not begun by another page, which would sign the operator in as somebody else', async () => {
    const shown = { token: (await token()).token }
    for (const headers of [
      { 'Rollcall-Console': '' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://evil.example' },
    ] as const) {
      const { status, cookie } = await signIn(shown, { headers })
      expect([status, cookie]).toEqual([403, null])
    }
  })
})

describe('another page in the same browser', () => {
  it('reaches no call with the cookie alone', async () => {
    const Cookie = await session()
    for (const route of ADMIN_ROUTES) {
      const { error } = await send(pathOf(route), { ...wrong(route), headers: { Cookie, 'Rollcall-Console': '' } })
      expect(`${route.name}: ${error}`).toBe(`${route.name}: ${NOT_CONSOLE}`)
    }
  })

  it.each(['cross-site', 'same-site', 'none', ''])('is refused with Sec-Fetch-Site %j', async (site) => {
    expect((await asked(await session(), { 'Sec-Fetch-Site': site })).error).toBe(OTHER_SITE)
  })

  it.each([
    'https://evil.example',
    'http://localhost',
    'http://127.0.0.1:1',
    'null',
    '',
    'http://127.0.0.1:1/path',
    'not an origin',
  ])('is refused with the Origin %j, whatever Sec-Fetch-Site says', async (origin) => {
    const Cookie = await session()
    for (const site of [{}, { 'Sec-Fetch-Site': 'same-origin' }]) {
      expect((await asked(Cookie, { Origin: origin, ...site })).error).toBe(OTHER_ORIGIN)
    }
  })

  it('is told from the own one, behind a proxy with TLS too', async () => {
    const Cookie = await session()
    const at = { Host: 'localhost:8443', Origin: 'https://localhost:8443' }
    for (const headers of [at, { Host: 'localhost:443', Origin: 'https://localhost' }]) {
      expect((await asked(Cookie, headers)).status).toBe(200)
    }
    expect((await asked(Cookie, { ...at, Origin: 'https://localhost' })).error).toBe(OTHER_ORIGIN)
  })

  it.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'])(
    'sends no form of the type %s',
    async (type) => {
      const Cookie = await session()
      const body = '{"reason":"x","person":{}}'
      const form = { method: 'POST', body }
      const path = `${ADMIN_BASE}/holds`
      const headers = { Cookie, 'Content-Type': type }
      expect((await send(path, { ...form, headers: { ...headers, 'Rollcall-Console': '' } })).error).toBe(NOT_CONSOLE)
      expect((await send(path, { ...form, headers })).status).toBe(415)
    },
  )

  it('is not allowed to send the header of the console', async () => {
    const { status, headers } = await send(`${ADMIN_BASE}/participants`, {
      method: 'OPTIONS',
      lines: 'Origin: https://evil.example\r\nAccess-Control-Request-Headers: rollcall-console\r\n',
    })
    expect([status, [...headers.keys()].filter((name) => name.startsWith('access-control'))]).toEqual([405, []])
  })

  it('by a name that leads here (DNS rebinding) reaches neither page nor call', async () => {
    const Cookie = await session()
    const paths = ['/', SESSION, `${ADMIN_BASE}/openapi.json`, ...ADMIN_ROUTES.map(pathOf)]
    for (const path of new Set(paths)) {
      const route = ADMIN_ROUTES.find((row) => pathOf(row) === path)
      const { error } = await send(path, { ...(route && wrong(route)), headers: { Cookie, Host: 'evil.example' } })
      expect(`${path}: ${error}`).toBe(
        `${path}: 421 err.request.bad Host: is not the address of this listener, nor one of ROLLCALL_ADMIN_HOSTS`,
      )
    }
  })
})

describe('an operator who may little', () => {
  it.each(['read', 'publish', 'consent'] as const)('with the role %s reaches no call of another one', async (role) => {
    const Cookie = await session([role])
    for (const route of ADMIN_ROUTES) {
      if (hasRole({ roles: [role] }, route.role)) continue
      const { error } = await send(pathOf(route), { ...wrong(route), headers: { Cookie } })
      expect(`${route.name}: ${error}`).toBe(`${route.name}: 403 err.request.forbidden this call needs the role ${route.role}`)
    }
  })

  it('gains nothing by a method in a header, or by another one on the same path', async () => {
    const Cookie = await session(['read'])
    const headers = { Cookie, 'X-HTTP-Method-Override': 'POST', 'X-Method-Override': 'POST' }
    expect((await send(`${ADMIN_BASE}/holds`, { headers })).body).toBe('[]')
    expect((await send(`${SESSION}/end`, { headers })).error).toBe('405 err.request.bad the method must be POST')
    for (const method of ['PUT', 'PATCH', 'DELETE', 'TRACE']) {
      expect((await send(`${ADMIN_BASE}/holds`, { method, headers: { Cookie } })).error).toBe(
        '405 err.request.bad the method must be GET or HEAD or POST',
      )
    }
    expect((await asked(Cookie)).status).toBe(200)
  })
})

describe('a cookie', () => {
  it('of a session that ended, of a revoked token, or with another secret is good for nothing', async () => {
    const { name, token: shown } = await token()
    const left = (await signIn({ token: shown })).cookie?.split(';')[0] ?? ''
    await revokeOperator(acting(server.database), { name })
    const out = await session()
    await send(`${SESSION}/end`, { method: 'POST', body: '{}', headers: { Cookie: out } })
    const other = await session()
    const [, id = '', secret = ''] = /=(\d+)_(.*)$/.exec(await session()) ?? []
    const named = (value: string): string => `rollcall_session=${value}`
    for (const cookie of [
      ...[left, out, other.slice(0, -43) + secret, named(`${Number(id) + 1_000}_${secret}`)],
      ...[named(''), named(secret), named(`0${id}_${secret}`), named(`"${id}_${secret}"`)],
      ...[named(`${id}_${secret.toLowerCase()}x`), named(`${id}_${secret}; Path=/`).replace('; ', '%3B')],
    ]) {
      expect((await asked(cookie)).error).toBe(ENDED)
    }
    expect((await asked(named(`${id}_${secret}`))).status).toBe(200)
  })

  it('that is sent twice is refused, in one header or in two', async () => {
    const [one, two] = [await session(), await session(['read'])]
    const refused = '400 err.request.bad Cookie: rollcall_session must be sent once'
    expect((await asked(`${one}; ${two}`)).error).toBe(refused)
    expect((await asked(`a=b; ${two};${two}`)).error).toBe(refused)
    const lines = `Cookie: ${one}\r\nCookie: ${two}\r\n`
    expect((await send(`${ADMIN_BASE}/participants`, { lines })).error).toBe(refused)
    expect((await send(`${SESSION}/end`, { method: 'POST', body: '{}', lines })).error).toBe(refused)
  })

  it('with a token that is wrong does not count, and no other header brings one', async () => {
    const cookie = await session()
    expect((await asked(cookie, { Authorization: `Bearer rollcall_1_${'A'.repeat(43)}` })).status).toBe(401)
    expect((await asked('', { 'X-Cookie': cookie, 'Set-Cookie': cookie })).status).toBe(401)
    expect((await send(`${ADMIN_BASE}/participants?${cookie}`)).status).toBe(401)
  })

  it('is for TLS alone where a proxy stands before the listener, and no other host can set it', async () => {
    const shown = { token: (await token(['read'], behindProxy)).token }
    const proxied = { at: behindProxy, headers: { Host: 'console.example.org' } }
    const { cookie } = await signIn(shown, proxied)
    expect(cookie).toMatch(/^__Host-rollcall_session=\d+_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
    const value = cookie?.split(';')[0] ?? ''
    const status = async (Cookie: string, headers: Sent['headers']) =>
      (await send(SESSION, { at: behindProxy, headers: { ...headers, Cookie } })).status
    expect(await status(value, proxied.headers)).toBe(200)
    expect(await status(value.replace('__Host-', ''), proxied.headers)).toBe(401)
    // A proxy that passes on no name says that it speaks TLS.
    expect(await status(value, { 'X-Forwarded-Proto': 'https' })).toBe(200)
    // In a tunnel to this machine there is no TLS.
    expect((await signIn(shown, { at: behindProxy })).cookie).toMatch(/^rollcall_session=.*SameSite=Strict$/)
  })
})

describe('a link', () => {
  const link = async (name: string) => {
    const { path } = await makeSignInLink(acting({ ...server.database, clock }), { name })
    return path.replace('/#/sign-in/', '')
  }
  const REFUSED = '401 err.request.unauthorized code: is not valid here, was used before or has expired; ask for a new link'

  it('signs in once, however many try at the same time', async () => {
    const { name } = await token(['read'])
    const code = await link(name)
    const answers = await Promise.all([1, 2, 3, 4].map(() => signIn({ code })))
    const [good, ...others] = answers.toSorted((a, b) => a.status - b.status)
    expect([good?.status, good?.parsed.operator]).toEqual([201, name])
    expect(others.map(({ error }) => error)).toEqual([REFUSED, REFUSED, REFUSED])
    clock.pass(60_000)
  })

  it('is refused after 15 minutes, after its token was revoked, and with another secret', async () => {
    const { name } = await token(['read'])
    const late = await link(name)
    clock.pass(899_000)
    expect((await signIn({ code: `${late.split('_')[0]}_${'A'.repeat(43)}` })).error).toBe(REFUSED)
    clock.pass(1_000)
    expect((await signIn({ code: late })).error).toBe(REFUSED)
    const revoked = await link(name)
    await revokeOperator(acting(server.database), { name })
    expect((await signIn({ code: revoked })).error).toBe(REFUSED)
    await expect(link(name)).rejects.toThrow(`no live token is named ${name}`)
  })
})

it('made-up cookies keep nobody out who is signed in, even where no node has seen that cookie before', async () => {
  const few = await testServer({ limits: { address_failures: 2 } }, clock)
  try {
    const path = `${ADMIN_BASE}/participants`
    const madeUp = () => send(path, { at: few, headers: { Cookie: `rollcall_session=1_${'A'.repeat(43)}` } })
    const tooMany = '429 err.request.too_many_requests too many failures of this address within a minute; try again later'
    expect([(await madeUp()).error, (await madeUp()).error, (await madeUp()).error]).toEqual([ENDED, ENDED, tooMany])
    const { token: own } = await token(['own'], few)
    const begun = await few.context.sessions.begin({ token: Number(own.split('_')[1]) })
    expect((await send(path, { at: few, headers: { Cookie: `rollcall_session=${begun?.cookie}` } })).status).toBe(200)
  } finally {
    await few.close()
  }
})
