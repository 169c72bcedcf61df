/** An attacker tries cookies and links of the partner page. */
import { addOperator } from '@rollcall/admin/operators/operators'
import { makeSignInLink } from '@rollcall/admin/operators/sessions'
import { describe, expect, it } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { PARTNER_BASE } from '../../src/http/partner/route.ts'
import { attackedPartnerPage, ENDED, NOT_PAGE, ONE, REFUSED, SESSION, TWO } from './partner-page.ts'

const { server, clock, send, codeOf, signIn, session, asked } = await attackedPartnerPage()
const { db } = server.database

const NOBODY = '401 err.request.unauthorized Cookie: nobody is signed in; ask the operator for a link'

describe('a cookie', () => {
  it('of a session that ended, or with another secret, is good for nothing', async () => {
    const out = await session()
    await send(`${SESSION}/end`, { method: 'POST', body: '{}', headers: { Cookie: out } })
    const other = await session(TWO)
    const [, id = '', secret = ''] = /=(\d+)_(.*)$/.exec(await session()) ?? []
    const named = (value: string): string => `rollcall_partner=${value}`
    for (const cookie of [
      ...[out, other.slice(0, -43) + secret, named(`${Number(id) + 1_000}_${secret}`)],
      ...[named(''), named(secret), named(`0${id}_${secret}`), named(`"${id}_${secret}"`)],
    ]) {
      expect((await asked(cookie)).error).toBe(ENDED)
    }
    expect((await asked(named(`${id}_${secret}`))).parsed.sender_id).toBe(ONE)
  })

  it('that is sent twice is refused, in one header or in two, also at a sign-in', async () => {
    const [one, two] = [await session(), await session(TWO)]
    const refused = '400 err.request.bad Cookie: rollcall_partner must be sent once'
    expect((await asked(`${one}; ${two}`)).error).toBe(refused)
    const lines = `Cookie: ${one}\r\nCookie: ${two}\r\n`
    expect((await send(`${PARTNER_BASE}/self`, { lines })).error).toBe(refused)
    expect((await send(SESSION, { lines })).error).toBe(refused)
    expect((await signIn(await codeOf(), { lines })).error).toBe(refused)
  })

  it('is not brought by another header, by the address, or by the method of another one', async () => {
    const Cookie = await session()
    expect((await asked('', { 'X-Cookie': Cookie, 'Set-Cookie': Cookie })).error).toBe(NOBODY)
    expect((await send(`${PARTNER_BASE}/self?${Cookie}`)).error).toBe(NOBODY)
    const headers = { Cookie, 'X-HTTP-Method-Override': 'POST', 'X-Method-Override': 'POST' }
    expect((await send(`${SESSION}/end`, { headers })).error).toBe('405 err.request.bad the method must be POST')
    const twice = { headers: { Cookie, 'Rollcall-Partner': '' }, lines: 'Rollcall-Partner: 1\r\n' }
    expect((await send(`${PARTNER_BASE}/self`, twice)).error).toBe(NOT_PAGE)
    expect((await asked(Cookie)).status).toBe(200)
  })

  it('of the console is none of this page, and an access token or a client secret is not accepted', async () => {
    const { token } = await addOperator(acting(server.database), { name: 'ops', roles: ['own'] })
    const console = await server.context.sessions.begin({ token: Number(token.split('_')[1]) })
    for (const name of ['rollcall_partner', 'rollcall_session']) {
      const { status } = await asked(`${name}=${console?.cookie}`)
      expect(status).toBe(401)
    }
    const { token: access, client_id, secret } = await server.participant('token.example')
    const basic = Buffer.from(`${client_id}:${secret}`).toString('base64')
    for (const Authorization of [`Bearer ${access}`, `Bearer ${token}`, `Basic ${basic}`]) {
      const refused = '400 err.request.bad Authorization: is not read here; sign in with a link of the operator'
      expect((await asked(await session(), { Authorization })).error).toBe(refused)
      expect((await signIn(await codeOf(), { headers: { Authorization } })).error).toBe(refused)
    }
    // Nor is a session of this page one of the console.
    const partner = (await session()).replace('rollcall_partner=', 'rollcall_session=')
    const response = await fetch(`${server.adminUrl}/admin/v1/participants`, {
      headers: { Cookie: partner, 'Rollcall-Console': '1' },
    })
    expect(response.status).toBe(401)
  })
})

describe('a link', () => {
  it('of one page is none of the other, and is still good at its own', async () => {
    await addOperator(acting(server.database), { name: 'linked', roles: ['own'] })
    const { path } = await makeSignInLink(acting({ ...server.database, clock }), { name: 'linked' })
    const ofConsole = path.slice('/#/sign-in/'.length)
    const ofPartner = await codeOf()
    const atConsole = async (code: string) =>
      (
        await fetch(`${server.adminUrl}/admin/v1/session`, {
          method: 'POST',
          headers: { 'Rollcall-Console': '1', 'Content-Type': 'application/json' },
          body: JSON.stringify({ code }),
        })
      ).status
    expect((await signIn(ofConsole)).error).toBe(REFUSED)
    expect(await atConsole(ofPartner)).toBe(401)
    expect([(await signIn(ofPartner)).status, await atConsole(ofConsole)]).toEqual([201, 201])
    clock.pass(60_000)
  })

  it('signs in once, however many try at the same time', async () => {
    const code = await codeOf()
    const answers = await Promise.all([1, 2, 3, 4].map(() => signIn(code)))
    const [good, ...others] = answers.toSorted((a, b) => a.status - b.status)
    expect([good?.status, good?.parsed.sender_id]).toEqual([201, ONE])
    expect(others.map(({ error }) => error)).toEqual([REFUSED, REFUSED, REFUSED])
    clock.pass(60_000)
  })

  it('is refused after 15 minutes, and with another secret, and its code is in no log and no table', async () => {
    const late = await codeOf()
    clock.pass(899_000)
    expect((await signIn(`${late.split('_')[0]}_${'A'.repeat(43)}`)).error).toBe(REFUSED)
    clock.pass(1_000)
    expect((await signIn(late)).error).toBe(REFUSED)
    const code = await codeOf()
    const { rows } = await db.pool.query('select to_jsonb(l)::text as text from sign_in_link l')
    // The last 43 characters: a secret may have any of the URL-safe ones, also those between the parts.
    const secret = code.slice(-43)
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(secret)
    const Cookie = (await signIn(code)).cookie?.split(';')[0] ?? ''
    expect(server.logged()).not.toContain(secret)
    expect(server.logged()).not.toContain(Cookie.slice(-43))
    expect(server.logged()).toContain('"act":"signed in"')
    clock.pass(60_000)
  })

  it('cannot be guessed for long from one address, whatever address the headers claim', async () => {
    const codes = Array.from({ length: 10 }, (_, at) => `${at + 1}_${'A'.repeat(43)}`)
    for (const [at, code] of codes.entries()) {
      const headers = { 'X-Forwarded-For': `198.51.100.${at}`, Forwarded: `for=198.51.100.${at}` }
      expect((await signIn(code, { headers })).status).toBe(401)
    }
    const good = await codeOf()
    const refused = await signIn(good, { headers: { 'X-Forwarded-For': '203.0.113.7' } })
    expect(refused.error).toBe(
      '429 err.request.too_many_requests too many sign-ins from this address have failed; try again later',
    )
    // The console is on another listener, and its operators are not locked out.
    expect(server.context.signInFailures.wait('rollcall_partner 127.0.0.1')).toBeGreaterThan(0)
    expect(server.context.signInFailures.wait('rollcall_session 127.0.0.1')).toBe(0)
    clock.pass(60_000)
    expect((await signIn(good)).status).toBe(201)
  })

  it('that is too large to be one is not read', async () => {
    const body = JSON.stringify({ code: 'A'.repeat(20_000) })
    expect((await send(SESSION, { method: 'POST', body })).status).toBe(413)
  })
})
