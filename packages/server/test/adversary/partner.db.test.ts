/** What an attacker tries at the partner page, which is on the listener that everybody reaches. */
import { randomUUID } from 'node:crypto'
import { cancelDeliveries } from '@rollcall/admin/deliveries/changes'
import { setParticipantStatus } from '@rollcall/admin/participants/participants'
import { removeParticipant } from '@rollcall/admin/removal'
import { isJsonObject, type JsonValue } from '@rollcall/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { runHousekeeping } from '../../src/app/housekeeping.ts'
import { pathMembers, queryOrBodyMembers } from '../../src/http/admin/route.ts'
import { PARTNER_BASE, type PartnerRoute } from '../../src/http/partner/route.ts'
import { PARTNER_ROUTES } from '../../src/http/partner/routes.ts'
import { adminCaller } from '../admin-api.ts'
import { eventRows } from '../notifications.ts'
import { QUIET, testServer } from '../server.ts'
import { attackedPartnerPage, ENDED, NOT_PAGE, ONE, REFUSED, SESSION, type Sent, TWO } from './partner-page.ts'

const { server, clock, civil, send, codeOf, signIn, session, asked } = await attackedPartnerPage()
const closed = await testServer({ ROLLCALL_BEHIND_TLS_PROXY: '1' }, clock, QUIET)
afterAll(() => closed.close())
const { db } = server.database

const OTHER_SITE = '403 err.request.forbidden Sec-Fetch-Site: a session is for the pages of the partner page alone'

const OTHER_ORIGIN =
  '403 err.request.forbidden Origin: must be the address in Host: a session is for the pages of the partner page alone'

const pathOf = ({ path }: Pick<PartnerRoute, 'path'>): string => `${PARTNER_BASE}${path.replaceAll(/\{\w+\}/g, 'x')}`
/** Input that no call accepts: one that was admitted by mistake changes nothing. */
const wrong = ({ method }: PartnerRoute): Sent => (method === 'GET' ? {} : { method, body: '{"none":"of the members"}' })

/** A failed delivery, by its message_id. */
async function delivery(sender_id: string): Promise<string> {
  const message_id = `m-${randomUUID()}`
  await db.pool.query(
    `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, reason)
      select $1, id, $2, 'on-search', $3, 'https://away.example/in', false, '\\x01', 'dead', 'timeout'
      from participant where sender_id = $4`,
    [randomUUID(), civil.id, message_id, sender_id],
  )
  return message_id
}

async function subscription(sender_id: string): Promise<string> {
  const { rows } = await db.pool.query<{ id: number }>('select id from participant where sender_id = $1', [sender_id])
  const [found] = rows
  if (found === undefined) throw new Error('no such participant')
  return (await eventRows(server.database, civil).subscribe(found)).code
}

describe('off', () => {
  it('there is neither a page nor a call', async () => {
    const paths = ['/partner', '/partner/', '/partner/x', SESSION, ...PARTNER_ROUTES.map(pathOf)]
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status } = await send(path, { at: closed, method, ...(method === 'POST' && { body: '{}' }) })
        // The start of a registry is at a path of one segment.
        const isName = /^\/\w+\/?$/.test(path) && method !== 'GET'
        expect(`${method} ${path} ${status}`).toBe(`${method} ${path} ${isName ? 405 : 404}`)
      }
    }
  })
})

describe('off,', () => {
  it('an operator gets no link', async () => {
    const caller = await adminCaller(closed)
    await closed.participant(ONE)
    expect(await caller.refusal(`/participants/${ONE}/link`, {}, caller.tokens.operate)).toBe(
      '409 err.request.bad the partner page is off: start the server with ROLLCALL_PARTNER_PAGE=1',
    )
  })
})

describe('a session that somebody else prepared', () => {
  it.each([
    ['made up', async () => `rollcall_partner=1_${'A'.repeat(43)}`],
    ['of another participant', () => session(TWO)],
  ])('is not taken over at a sign-in: %s', async (_name, prepare) => {
    const before = await prepare()
    const { status, cookie } = await signIn(await codeOf(), { headers: { Cookie: before } })
    expect([status, cookie?.startsWith(`${before};`)]).toEqual([201, false])
    expect((await asked(before)).error).toBe(ENDED)
    expect((await asked(cookie?.split(';')[0] ?? '')).parsed.sender_id).toBe(ONE)
  })

  it('is not begun by another page, which would sign somebody in as another participant', async () => {
    const code = await codeOf()
    for (const headers of [{ 'Rollcall-Partner': '' }, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }]) {
      const { status, cookie } = await signIn(code, { headers })
      expect([status, cookie]).toEqual([403, null])
    }
    // The link is not spent by that.
    expect((await signIn(code)).status).toBe(201)
  })
})

describe('another page in the same browser', () => {
  it('reaches no call with the cookie alone, nor with the header of the console', async () => {
    const Cookie = await session()
    for (const route of PARTNER_ROUTES) {
      for (const headers of [{ 'Rollcall-Partner': '' }, { 'Rollcall-Partner': '', 'Rollcall-Console': '1' }]) {
        const { error } = await send(pathOf(route), { ...wrong(route), headers: { Cookie, ...headers } })
        expect(`${route.name}: ${error}`).toBe(`${route.name}: ${NOT_PAGE}`)
      }
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
      const body = JSON.stringify({ message_ids: [await delivery(ONE)] })
      const form = { method: 'POST', body }
      const path = `${PARTNER_BASE}/deliveries/replay`
      const headers = { Cookie, 'Content-Type': type }
      const bare = await send(path, { ...form, headers: { ...headers, 'Rollcall-Partner': '' } })
      expect(bare.error).toBe(NOT_PAGE)
      expect((await send(path, { ...form, headers })).status).toBe(415)
    },
  )

  it('is not allowed to send the header of the page, also where a registry has the same name and lists it', async () => {
    // As a database of before may have it: the name is reserved.
    await server.registry('civil', [], 'earlier')
    await db.pool.query(
      `update registry set namespace = 'partner', web_origins = '{https://evil.example}' where namespace = 'earlier'`,
    )
    clock.pass(1_000)
    for (const path of [`${PARTNER_BASE}/self`, '/%70artner/api/self']) {
      const { status, headers } = await send(path, {
        method: 'OPTIONS',
        lines: 'Origin: https://evil.example\r\nAccess-Control-Request-Method: GET\r\n',
      })
      const named = [...headers.keys()].filter((name) => name.startsWith('access-control'))
      expect([path, status, named]).toEqual([path, 405, []])
    }
  })
})

describe('a participant that is signed in', () => {
  it('reaches nothing of another one: what is foreign is answered like what there is not', async () => {
    const Cookie = await session()
    const foreign = { deliveries: await delivery(TWO), subscriptions: await subscription(TWO) }
    const own = { deliveries: await delivery(ONE), subscriptions: await subscription(ONE) }
    const NAMES = ['message_id', 'before', 'message_ids']
    let compared = 0
    for (const route of PARTNER_ROUTES) {
      const members = [...pathMembers(route), ...Object.keys(queryOrBodyMembers(route))]
      // A new member that names something has to be tried here.
      expect(members.filter((name) => !['state', 'limit', ...NAMES].includes(name))).toEqual([])
      for (const member of members.filter((name) => NAMES.includes(name))) {
        const sort = route.path.startsWith('/subscriptions') ? 'subscriptions' : 'deliveries'
        const answerFor = async (id: string) => {
          const { status, error, parsed } = await send(...requestWith(route, member, id, Cookie))
          return { status, text: JSON.stringify(error ?? parsed)?.replaceAll(id, '<id>') }
        }
        const unknown = await answerFor(`m-${randomUUID()}`)
        expect([route.name, await answerFor(foreign[sort])]).toEqual([route.name, unknown])
        expect([route.name, (await answerFor(own[sort])).status]).toEqual([route.name, 200])
        compared += 1
      }
    }
    expect(compared).toBe(4)
    const { rows } = await db.pool.query('select state from delivery where message_id = $1', [foreign.deliveries])
    expect(rows).toEqual([{ state: 'dead' }])
  })

  it('does not bring back what an operator has cancelled', async () => {
    const Cookie = await session()
    const message_id = await delivery(ONE)
    await cancelDeliveries(acting(server.context), { participant: ONE })
    const body = JSON.stringify({ message_ids: [message_id] })
    const path = `${PARTNER_BASE}/deliveries`
    const again = await send(`${path}/replay`, { method: 'POST', body, headers: { Cookie } })
    expect(again.error).toBe(
      '409 err.request.bad message_ids: only deliveries that are delivered or refused or dead or held are sent again; none of these is, or its record was deleted after the delivery',
    )
    const { parsed } = await send(`${path}/${message_id}`, { headers: { Cookie } })
    expect(parsed).toMatchObject({ state: 'dropped', replayable: false })
  })

  it('is named by the session alone: no call takes a sender_id', async () => {
    const Cookie = await session()
    for (const route of PARTNER_ROUTES) {
      const path = `${pathOf(route)}${route.method === 'GET' ? `?sender_id=${TWO}&participant=${TWO}` : ''}`
      const body = { method: 'POST', body: JSON.stringify({ sender_id: TWO, message_ids: ['x'] }) }
      const { error } = await send(path, { ...(route.method === 'POST' && body), headers: { Cookie } })
      expect(`${route.name}: ${error}`).toBe(`${route.name}: 400 err.request.bad sender_id: is not a known member`)
    }
    const headers = { 'X-Sender-Id': TWO, 'X-Forwarded-User': TWO, 'Rollcall-Participant': TWO }
    expect((await asked(Cookie, headers)).parsed.sender_id).toBe(ONE)
  })

  it('and others do not appear in any answer', async () => {
    const Cookie = await session()
    for (const route of PARTNER_ROUTES.filter(({ method }) => method === 'GET')) {
      const { body } = await send(pathOf(route), { headers: { Cookie } })
      expect(body).not.toContain(TWO)
    }
  })

  it('is signed out when it is disabled, stays so when it is enabled again, and when it is removed', async () => {
    const sender_id = 'three.example'
    await server.participant(sender_id)
    const [Cookie, code] = [await session(sender_id), await codeOf(sender_id)]
    await setParticipantStatus({ db }, { sender_id, status: 'disabled' })
    expect((await asked(Cookie)).error).toBe(ENDED)
    expect((await signIn(code)).error).toBe(REFUSED)
    await expect(codeOf(sender_id)).rejects.toThrow('three.example is disabled; enable it before it gets a link')
    await setParticipantStatus({ db }, { sender_id, status: 'active' })
    expect((await asked(Cookie)).error).toBe(ENDED)
    expect((await signIn(code)).error).toBe(REFUSED)

    const [later, link] = [await session(sender_id), await codeOf(sender_id)]
    await removeParticipant(acting({ ...server.context, caller: { kind: 'shell', user: 'ops' } as const }), { sender_id })
    expect((await asked(later)).error).toBe(ENDED)
    expect((await signIn(link)).error).toBe(REFUSED)
    await server.participant(sender_id)
    expect((await asked(later)).error).toBe(ENDED)
    clock.pass(60_000)
  })

  it('for nothing is signed out after 30 minutes; a page that looks by itself does not prevent it', async () => {
    const Cookie = await session()
    clock.pass(29 * 60_000)
    expect((await asked(Cookie)).status).toBe(200)
    clock.pass(29 * 60_000)
    expect((await asked(Cookie, { 'Rollcall-Partner': 'poll' })).status).toBe(200)
    clock.pass(60_000)
    expect((await asked(Cookie)).error).toBe(ENDED)
    await runHousekeeping(server.context, new AbortController().signal)
    const { rows } = await db.pool.query('select count(*)::integer as left from session where participant is not null')
    expect(rows).toEqual([{ left: 0 }])
  })
})

/** A request of a route that names one thing. */
function requestWith(route: PartnerRoute, member: string, id: string, Cookie: string): [string, Sent] {
  const headers = { Cookie }
  const path = `${PARTNER_BASE}${route.path.replace('{message_id}', id)}`
  if (pathMembers(route).includes(member)) return [path, { headers }]
  if (route.method === 'GET') return [`${path}?${member}=${id}`, { headers }]
  return [path, { method: 'POST', headers, body: JSON.stringify({ [member]: [id] }) }]
}
it('a number in an answer of a list is none of the database', async () => {
  const Cookie = await session()
  const { body } = await send(`${PARTNER_BASE}/deliveries`, { headers: { Cookie } })
  const { rows } = await db.pool.query<{ id: string }>('select id from delivery')
  for (const { id } of rows) expect(body).not.toContain(id)
  const first: JsonValue = JSON.parse(body)[0]
  expect(isJsonObject(first) && Object.keys(first)).not.toContain('id')
})
