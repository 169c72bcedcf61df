/** The partner API for tests: a browser that a participant signs in with. */
import { makePartnerLink } from '@rollcall/admin/partner/link'
import { acting } from '../../admin/test/acting.ts'
import { PARTNER_BASE } from '../src/http/partner/route.ts'
import { type Answer, answerOf, type TestServer } from './server.ts'

/** Headers that the page sends. */
const PAGE = { 'Rollcall-Partner': '1', 'Sec-Fetch-Site': 'same-origin' }

/** Makes a sign-in link, and returns its code. */
export async function partnerCode(
  { database, clock }: Pick<TestServer, 'database' | 'clock'>,
  sender_id: string,
): Promise<string> {
  const partnerPage = { isOn: true, base: () => '' }
  const { url } = await makePartnerLink(acting({ db: database.db, clock, partnerPage }), { sender_id })
  return url.replace('/partner#', '')
}

export async function askPartner(
  { url }: Pick<TestServer, 'url'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object,
): Promise<Answer> {
  return answerOf(
    await fetch(`${url}${PARTNER_BASE}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...PAGE, ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
}

/** `name=value` of the cookie that an answer sets. */
export const cookieOf = ({ headers }: Pick<Answer, 'headers'>): string => (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

/** Signs in with a new link, and returns the headers that the browser then sends. */
export async function partnerBrowser(server: TestServer, sender_id: string): Promise<{ readonly Cookie: string }> {
  const answer = await askPartner(server, '/session', {}, { code: await partnerCode(server, sender_id) })
  if (answer.status !== 201) throw new Error(`not signed in: ${answer.status}`)
  return { Cookie: cookieOf(answer) }
}

/** Writes status and first error of an answer in one line. */
export const errorOf = ({ status, body }: Answer): string => `${status} ${body.errors[0].code} ${body.errors[0].message}`
