/** The session of the partner page: its cookie, and the participant that is signed in. */
import { RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { PartnerNeeds } from '../../admin/partner/partner.ts'
import type { PartnerSession, PartnerSessions } from '../../directory/partner-sessions.ts'
import { unauthorized } from '../../exchange/authenticate.ts'
import type { Gate } from '../gate.ts'
import { type IsReachedByTls, sessionCookies } from '../session-cookie.ts'

/** Where the page is. */
export const PARTNER_PAGE = '/partner'

export const PARTNER_SESSION = sessionCookies({
  ...{ cookie: 'rollcall_partner', path: PARTNER_PAGE },
  ...{ header: 'Rollcall-Partner', title: 'the partner page' },
})

export interface HasPartnerSessions {
  readonly partnerSessions: PartnerSessions
  readonly gate: Pick<Gate, 'identified' | 'unit' | 'wait'>
}

/** What the peers' listener knows of itself. */
export interface PartnerListener {
  readonly isReachedByTls: IsReachedByTls
  /** Whether its data are those of a demo. */
  readonly isDemo: () => boolean
  readonly sampleOf: PartnerNeeds['sampleOf']
}

/**
 * Who is signed in. Neither an access token nor a client secret is accepted in place of the cookie, nor beside it.
 * @throws RequestFault 400, 401, 403, 429
 */
export async function signedIn(
  { partnerSessions, gate }: HasPartnerSessions,
  { isReachedByTls }: Pick<PartnerListener, 'isReachedByTls'>,
  { raw, headers }: Pick<FastifyRequest, 'raw' | 'headers'>,
): Promise<PartnerSession> {
  refuseAuthorization(headers)
  const cookie = PARTNER_SESSION.read(raw, isReachedByTls(raw))
  const { acts } = PARTNER_SESSION.checkOwn(headers)
  if (cookie === null) throw nobody()
  // As for tokens: who has failed too often from here is not looked for in the database.
  const retryAfter = gate.wait(raw)
  if (retryAfter > 0) throw tooMany('failures of this address', retryAfter)
  const session = await partnerSessions.sessionOf(cookie, acts)
  if (session === null) {
    throw unauthorized('Cookie: the session has ended; ask the operator for a new link')
  }
  gate.identified(raw, session.sender_id)
  return session
}

export const nobody = (): RequestFault =>
  unauthorized('Cookie: nobody is signed in; ask the operator for a link')

export const tooMany = (what: string, retryAfter: number): RequestFault =>
  new RequestFault(
    'err.request.too_many_requests',
    `too many ${what} within a minute; try again later`,
    undefined,
    { retryAfter },
  )

/** @throws RequestFault 400 */
export function refuseAuthorization({ authorization }: FastifyRequest['headers']): void {
  if (authorization === undefined) return
  throw new RequestFault(
    'err.request.bad',
    'Authorization: is not read here; sign in with a link of the operator',
  )
}
