/** The set-up of attacks on the partner page: a server, two participants, and the requests of a browser that signs in. */
import { afterAll } from 'vitest'
import { testClock } from '../../../observe/test/clock.ts'
import { PARTNER_BASE } from '../../src/http/partner/route.ts'
import { partnerCode } from '../partner.ts'
import { type Sent as Request, rawCall } from '../raw-call.ts'
import { QUIET, type TestServer, testServer } from '../server.ts'

export const ONE = 'one.example'
export const TWO = 'two.example'
export const SESSION = `${PARTNER_BASE}/session`
export const ENDED = '401 err.request.unauthorized Cookie: the session has ended; ask the operator for a new link'
export const REFUSED =
  '401 err.request.unauthorized code: is not valid here, was used before or has expired; ask the operator for a new link'
export const NOT_PAGE = '403 err.request.forbidden Rollcall-Partner: must be 1, or poll, in a call with the cookie of a session'

export interface Sent extends Request {
  readonly at?: TestServer
}

/** The server, with its registry, for the tests of one file: to be awaited at its top level. */
export async function attackedPartnerPage() {
  const clock = testClock()
  const server = await testServer({ ROLLCALL_PARTNER_PAGE: '1' }, clock, QUIET)
  afterAll(() => server.close())
  const civil = await server.registry('civil')
  for (const sender_id of [ONE, TWO]) await server.participant(sender_id)

  /** Sends a request that is written by hand (`rawCall`). */
  const send = (path: string, { at = server, ...sent }: Sent = {}) =>
    rawCall(at.running.port, path, { 'Rollcall-Partner': '1' }, sent)
  const codeOf = (sender_id = ONE) => partnerCode(server, sender_id)
  const signIn = (code: string, more: Sent = {}) => send(SESSION, { method: 'POST', body: JSON.stringify({ code }), ...more })
  /** Signs in with a new link, and returns the cookie of the session. */
  async function session(sender_id = ONE): Promise<string> {
    const { cookie } = await signIn(await codeOf(sender_id))
    return cookie?.split(';')[0] ?? ''
  }
  const asked = (Cookie: string, headers: Sent['headers'] = {}) =>
    send(`${PARTNER_BASE}/self`, { headers: { Cookie, ...headers } })
  return { server, clock, civil, send, codeOf, signIn, session, asked }
}
