/** What an attacker tries with cookies and links of the partner page, and what an operator can do about it. */

import { signPartnerOut } from '@rollcall/admin/partner/link'
import { TOKEN_PATH } from '@rollcall/protocol'
import { afterAll, expect, it } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { testClock } from '../../../observe/test/clock.ts'
import { PARTNER_BASE } from '../../src/http/partner/route.ts'
import { partnerCode } from '../partner.ts'
import { rawCall, type Sent } from '../raw-call.ts'
import { QUIET, testServer } from '../server.ts'

const clock = testClock()
const server = await testServer(
  { ROLLCALL_PARTNER_PAGE: '1', limits: { address_failures: 2, operator_sessions: 3 } },
  clock,
  QUIET,
)
const proxied = await testServer({ ROLLCALL_PARTNER_PAGE: '1', ROLLCALL_BEHIND_TLS_PROXY: '1' }, clock, QUIET)
afterAll(() => Promise.all([server.close(), proxied.close()]))
const ONE = 'one.example'
for (const at of [server, proxied]) await at.participant(ONE)

const send = (path: string, sent: Sent, at = server) => rawCall(at.running.port, path, { 'Rollcall-Partner': '1' }, sent)
const SESSION = `${PARTNER_BASE}/session`
const signIn = (code: string, headers: Sent['headers'] = {}, at = server) =>
  send(SESSION, { method: 'POST', body: JSON.stringify({ code }), headers }, at)
const cookieIn = ({ cookie }: { readonly cookie: string | null }): string => cookie?.split(';')[0] ?? ''
const session = async (): Promise<string> => cookieIn(await signIn(await partnerCode(server, ONE)))
const asked = (Cookie: string) => send(`${PARTNER_BASE}/self`, { headers: { Cookie } })
const signOut = (Cookie: string) => send(`${SESSION}/end`, { method: 'POST', body: '{}', headers: { Cookie } })

const MADE_UP = `rollcall_partner=1_${'A'.repeat(43)}`
const MINUTE = 60_000
const ENDED = '401 err.request.unauthorized Cookie: the session has ended; ask the operator for a new link'
const REFUSED =
  '401 err.request.unauthorized code: is not valid here, was used before or has expired; ask the operator for a new link'
const TOO_MANY = '429 err.request.too_many_requests too many failures of this address within a minute; try again later'

it('made-up cookies are not looked for in the database after too many, also to sign out; who is signed in is not locked out', async () => {
  const own = await session()
  expect((await asked(MADE_UP)).error).toBe(ENDED)
  // Signing out with a made-up cookie is answered as ever, and counts.
  expect((await signOut(MADE_UP)).status).toBe(200)
  for (const refused of [await asked(MADE_UP), await signOut(MADE_UP)]) expect(refused.error).toBe(TOO_MANY)
  expect((await asked(own)).status).toBe(200)

  // Failures of the page are not failures of the protocol, and the other way round.
  const token = async () => {
    const body = 'grant_type=client_credentials&client_id=nobody&client_secret=none'
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    return (await send(`/${TOKEN_PATH}`, { method: 'POST', body, headers })).status
  }
  expect([await token(), await token(), await token()]).toEqual([401, 401, 429])
  clock.pass(MINUTE)
  expect((await asked(MADE_UP)).error).toBe(ENDED)
  expect((await asked(own)).status).toBe(200)
  clock.pass(MINUTE)
})

it('a session that ended is not known any more, and counts like a made-up cookie', async () => {
  const own = await session()
  expect((await signOut(own)).status).toBe(200)
  expect((await asked(own)).error).toBe(ENDED)
  expect((await asked(own)).error).toBe(ENDED)
  expect((await asked(own)).error).toBe(TOO_MANY)
  clock.pass(MINUTE)
})

it('a new link ends the one before it, and no session', async () => {
  const own = await session()
  const [first, second] = [await partnerCode(server, ONE), await partnerCode(server, ONE)]
  expect((await signIn(first)).error).toBe(REFUSED)
  expect((await signIn(second)).status).toBe(201)
  expect((await asked(own)).status).toBe(200)
  clock.pass(MINUTE)
})

it('links that are made at the same time leave one', async () => {
  const codes = await Promise.all([1, 2, 3].map(() => partnerCode(server, ONE)))
  const { rows } = await server.database.db.pool.query<{ id: string }>('select id from sign_in_link')
  expect(rows).toHaveLength(1)
  expect(codes.some((code) => code.startsWith(`${rows[0]?.id}_`))).toBe(true)
})

it('a participant has so many sessions at a time: the one that was not used for longest ends', async () => {
  const first = await session()
  const second = await session()
  clock.pass(MINUTE)
  expect((await asked(first)).status).toBe(200)
  const [third, fourth] = [await session(), await session()]
  expect((await asked(second)).error).toBe(ENDED)
  for (const live of [first, third, fourth]) expect((await asked(live)).status).toBe(200)
  clock.pass(MINUTE)
})

it('an operator signs a participant out: sessions and links end, and its system goes on', async () => {
  const own = await session()
  const code = await partnerCode(server, ONE)
  const ended = await signPartnerOut(acting(server.context), { sender_id: ONE })
  expect(ended).toEqual({ sender_id: ONE, sessions: 3 })
  expect((await asked(own)).error).toBe(ENDED)
  expect((await signIn(code)).error).toBe(REFUSED)
  expect(await server.context.directory.activeParticipant(ONE)).toMatchObject({ sender_id: ONE })
  await expect(signPartnerOut(acting(server.context), { sender_id: 'nobody.example' })).rejects.toThrow(
    'no participant has sender_id nobody.example',
  )
})

it('through TLS no other host can set the cookie, nor close the page with one', async () => {
  const tls = { 'X-Forwarded-Proto': 'https' }
  const answer = await signIn(await partnerCode(proxied, ONE), tls, proxied)
  expect(answer.cookie).toMatch(/^__Host-rollcall_partner=\d+_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
  const others = `rollcall_partner=x; __Secure-rollcall_partner=x`
  const self = (Cookie: string) => send(`${PARTNER_BASE}/self`, { headers: { ...tls, Cookie } }, proxied)
  expect((await self(`${others}; ${cookieIn(answer)}`)).status).toBe(200)
  expect((await self(cookieIn(answer).replace('__Host-', ''))).status).toBe(401)
})
