import { addOperator, type OperatorRole, revokeOperator } from '@rollcall/admin/operators/operators'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { testClock } from '../../../../observe/test/clock.ts'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import { answerOf, type TestServer, testServer } from '../../../test/server.ts'
import { ADMIN_BASE } from './route.ts'

let server: TestServer
const clock = testClock()
/** Lets failures of one test be forgotten before the next. */
const MINUTE = 60_000

beforeAll(async () => {
  server = await testServer({ limits: { operator_sessions: 2 } }, clock)
  await server.registry('civil')
  await server.registry('social')
})
afterAll(() => server.close())

let tokens = 0
async function tokenOf(roles: readonly OperatorRole[] = ['read'], registries?: readonly string[]) {
  tokens += 1
  const name = `operator-${tokens}`
  const { token } = await addOperator(acting({ ...server.database, clock }), { name, roles, registries })
  return { name, token }
}

/** Headers that the console's pages send. */
const CONSOLE = { 'Rollcall-Console': '1', 'Sec-Fetch-Site': 'same-origin' }

async function call(path: string, headers: Readonly<Record<string, string>> = {}, body?: object) {
  return answerOf(
    await fetch(`${server.adminUrl}${ADMIN_BASE}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...CONSOLE, ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
}

const errorOf = ({ status, body }: Awaited<ReturnType<typeof call>>): string =>
  `${status} ${body.errors[0].code} ${body.errors[0].message}`

/** `name=value` of the cookie that an answer sets. */
const cookieOf = ({ headers }: Awaited<ReturnType<typeof call>>): string => (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

/** Signs in; the headers of the browser that did. */
async function signedIn(token: string): Promise<{ readonly Cookie: string }> {
  const answer = await call('/session', {}, { token })
  expect(answer.status).toBe(201)
  return { Cookie: cookieOf(answer) }
}

const ENDED = '401 err.request.unauthorized Cookie: the session has ended; sign in again'

describe('signing in', () => {
  it('with a token begins a session, in a cookie that scripts cannot read', async () => {
    const { name, token } = await tokenOf(['operate'], ['civil'])
    const answer = await call('/session', {}, { token })
    expect(answer.headers.get('set-cookie')).toMatch(/^rollcall_session=\d+_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    const described = {
      operator: name,
      roles: ['read', 'consent', 'operate'],
      registries: ['civil'],
      expires_at: new Date(clock.date() + 43_200_000).toISOString(),
      idle_seconds: 1_800,
      two_person: false,
      demo: false,
      demo_page: null,
      sign_in: [{ method: 'token', title: 'Token of the admin API', start: null }],
    }
    expect([answer.status, answer.body]).toEqual([201, described])
    expect((await call('/session', { Cookie: cookieOf(answer) })).body).toEqual(described)
  })

  it('signed out, the session says how to sign in', async () => {
    const answer = await call('/session')
    expect(errorOf(answer)).toBe('401 err.request.unauthorized Cookie: nobody is signed in; sign in first')
    expect(answer.body).toMatchObject({ demo: false, sign_in: [{ method: 'token' }] })
  })

  it.each([
    ['nothing', {}, '400 err.request.bad token: must be given, or code in place of it'],
    ['both', { token: 'x', code: 'x' }, '400 err.request.bad token: must be given, or code in place of it'],
    ['a number', { token: 1 }, '400 err.request.bad token: must be a string'],
    ['more', { token: 'x', name: 'x' }, '400 err.request.bad name: is not a known member'],
    [
      'an unknown token',
      { token: `rollcall_1_${'A'.repeat(43)}` },
      '401 err.request.unauthorized token: is not valid here, has expired or was revoked',
    ],
    [
      'an unknown code',
      { code: `1_${'A'.repeat(43)}` },
      '401 err.request.unauthorized code: is not valid here, was used before or has expired; ask for a new link',
    ],
  ])('with %s is refused, and sets no cookie', async (_name, body, error) => {
    const answer = await call('/session', {}, body)
    expect([errorOf(answer), answer.headers.get('set-cookie')]).toEqual([error, null])
    clock.pass(MINUTE)
  })

  it('is refused to an address that failed too often, until a minute is over', async () => {
    const { token } = await tokenOf()
    const failures = Array.from({ length: 10 }, () => call('/session', {}, { token: 'x' }))
    expect(new Set((await Promise.all(failures)).map(({ status }) => status))).toEqual(new Set([401]))
    const refused = await call('/session', {}, { token })
    expect(errorOf(refused)).toBe(
      '429 err.request.too_many_requests too many sign-ins from this address have failed; try again later',
    )
    expect(refused.headers.get('retry-after')).toBe('60')
    // Programs go on.
    expect((await call('/registries', { Authorization: `Bearer ${token}` })).status).toBe(200)
    clock.pass(MINUTE)
    expect((await call('/session', {}, { token })).status).toBe(201)
  })

  it('and out, and that it failed, is logged and has an audit entry', async () => {
    const { name, token } = await tokenOf()
    const browser = await signedIn(token)
    await call('/session/end', browser, {})
    await call('/session', {}, { token: 'rollcall_x' })
    const lines = server
      .logged()
      .split('\n')
      .filter((line) => line.includes('"admin call"') && line.includes('Session"'))
      .map((line) => JSON.parse(line))
    expect(lines.slice(-3)).toMatchObject([
      { call: 'beginSession', operator: name, outcome: 'done' },
      { call: 'endSession', operator: name, outcome: 'done' },
      { call: 'beginSession', operator: null, outcome: 'refused', code: 'err.request.unauthorized' },
    ])
    expect(lines[0]?.session).toBeTypeOf('number')
    expect(server.logged()).not.toContain('rollcall_x')
    expect(server.logged()).not.toContain(token)
    expect(server.logged()).not.toContain(browser.Cookie.replace(/^rollcall_session=\d+_/, ''))
    const { body: entries } = await call('/accounts', { Authorization: `Bearer ${(await tokenOf()).token}` })
    const notes = entries.filter((row: { operator: string }) => row.operator === name)
    expect(notes.map(({ note }: { note: string }) => note)).toEqual(['operator sign-out', 'operator sign-in by token'])
    clock.pass(MINUTE)
  })
})

describe('a session', () => {
  it('may what its token may, and no more', async () => {
    const browser = await signedIn((await tokenOf(['read'], ['civil'])).token)
    expect((await call('/registries/civil/events', browser)).status).toBe(200)
    expect(errorOf(await call('/registries/social/events', browser))).toBe(
      '403 err.request.forbidden the token is bound to other registries',
    )
    expect(errorOf(await call('/registries/civil/records/get', browser, {}))).toBe(
      '403 err.request.forbidden this call needs the role audit',
    )
  })

  it('is not looked at where a token is shown', async () => {
    const browser = await signedIn((await tokenOf(['own'])).token)
    const { token } = await tokenOf(['publish'])
    expect(errorOf(await call('/participants', { ...browser, Authorization: `Bearer ${token}` }))).toBe(
      '403 err.request.forbidden this call needs the role read',
    )
    expect(errorOf(await call('/participants', { ...browser, Authorization: 'Bearer x' }))).toMatch(/^401 /)
  })

  it('ends where its operator has begun too many: the one that was not used for longest', async () => {
    const { token } = await tokenOf()
    const [first, second] = [await signedIn(token), await signedIn(token)]
    const other = await signedIn((await tokenOf()).token)
    clock.pass(MINUTE)
    expect((await call('/registries', first)).status).toBe(200)
    const third = await signedIn(token)
    expect(errorOf(await call('/registries', second))).toBe(ENDED)
    for (const browser of [first, third, other]) {
      expect((await call('/registries', browser)).status).toBe(200)
    }
  })

  it('ends when the operator signs out, and the browser forgets its cookie', async () => {
    const browser = await signedIn((await tokenOf()).token)
    const answer = await call('/session/end', browser, {})
    expect([answer.status, answer.body, answer.headers.get('set-cookie')]).toEqual([
      ...[200, {}, 'rollcall_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'],
    ])
    expect(errorOf(await call('/registries', browser))).toBe(ENDED)
    // Again, it is as it was.
    expect((await call('/session/end', browser, {})).status).toBe(200)
  })

  it('ends when the operator does nothing; a page that looks by itself does not keep it', async () => {
    const [active, idle] = [await signedIn((await tokenOf()).token), await signedIn((await tokenOf()).token)]
    for (const _ of [1, 2, 3]) {
      clock.pass(10 * MINUTE)
      expect((await call('/registries', active)).status).toBe(200)
      if (_ < 3) expect((await call('/registries', { ...idle, 'Rollcall-Console': 'poll' })).status).toBe(200)
    }
    expect(errorOf(await call('/registries', idle))).toBe(ENDED)
    expect((await call('/registries', active)).status).toBe(200)
  })

  it('that asks for the same again and again has looked once in five minutes; a token, and who asks for other things, looks each time', async () => {
    const { name, token } = await tokenOf()
    const browser = await signedIn(token)
    const looks = async () => {
      const entries = await storedEntries(server.database.db)
      return entries.filter(({ entry }) => entry.operator === name).length
    }
    const before = await looks()
    const live = { ...browser, 'Rollcall-Console': 'poll' }
    for (const headers of [browser, browser, live, live]) await call('/messages?limit=25', headers)
    expect(await looks()).toBe(before + 1)
    await call('/messages?limit=25&participant=a.example', live)
    expect(await looks()).toBe(before + 2)
    clock.pass(5 * MINUTE)
    await call('/messages?limit=25', live)
    expect(await looks()).toBe(before + 3)
    for (const _ of [1, 2]) await call('/messages?limit=25', { Authorization: `Bearer ${token}` })
    expect(await looks()).toBe(before + 5)
    for (const _ of [1, 2]) await call('/accounts?limit=25', live)
    expect(await looks()).toBe(before + 6)
    const other = await signedIn(token)
    const signedInAgain = await looks()
    await call('/messages?limit=25', other)
    expect(await looks()).toBe(signedInAgain + 1)
  })

  it('ends with its time, whatever the operator does', async () => {
    const browser = await signedIn((await tokenOf()).token)
    for (let passed = 0; passed < 12 * 60 - 20; passed += 20) {
      clock.pass(20 * MINUTE)
      expect((await call('/session', browser)).status).toBe(200)
    }
    clock.pass(20 * MINUTE)
    expect(errorOf(await call('/registries', browser))).toBe(ENDED)
  })

  it('ends with its token, at once, also where that expires', async () => {
    const { name, token } = await tokenOf()
    const browser = await signedIn(token)
    expect(await revokeOperator(acting(server.database), { name })).toEqual({ name, sessions: 1, proposals: 0 })
    expect(errorOf(await call('/registries', browser))).toBe(ENDED)

    const expires_at = new Date(clock.date() + MINUTE).toISOString()
    const short = await addOperator(acting({ ...server.database, clock }), { name: 'short', roles: ['read'], expires_at })
    const answer = await call('/session', {}, { token: short.token })
    expect(answer.body.expires_at).toBe(expires_at)
    clock.pass(MINUTE)
    expect(errorOf(await call('/registries', { Cookie: cookieOf(answer) }))).toBe(ENDED)
  })
})
