/** The session of the partner page: its cookie, and the participant that is signed in. */

import type { IncomingMessage } from 'node:http'
import type { PartnerNeeds } from '@rollcall/admin/partner/partner'
import type { PartnerSession, PartnerSessions } from '@rollcall/participants/directory/partner-sessions'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import { type Gate, NotSignedIn } from '../gate.ts'
import { type IsReachedByTls, sessionCookies } from '../session-cookie.ts'
import type { CookieFailures } from './cookie-failures.ts'

export const PARTNER_SESSION = sessionCookies({
  cookie: 'rollcall_partner',
  header: 'Rollcall-Partner',
  title: 'the partner page',
})

export interface HasPartnerSessions {
  readonly partnerSessions: PartnerSessions
  readonly partnerCookieFailures: CookieFailures
  readonly gate: Pick<Gate, 'identified' | 'unit'>
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
  parts: HasPartnerSessions,
  { isReachedByTls }: Pick<PartnerListener, 'isReachedByTls'>,
  { raw, headers }: Pick<FastifyRequest, 'raw' | 'headers'>,
): Promise<PartnerSession> {
  refuseAuthorization(headers)
  const cookie = PARTNER_SESSION.read(raw, isReachedByTls(raw))
  const { acts } = PARTNER_SESSION.checkOwn(headers)
  if (cookie === null) throw nobody()
  const session = await sessionOf(parts, raw, cookie, acts)
  if (session === null) {
    throw new NotSignedIn('Cookie: the session has ended; ask the operator for a new link')
  }
  parts.gate.identified(raw, session.sender_id)
  return session
}

/**
 * The session of a cookie; null where it is not good. The database is not asked for an address that failed too often.
 * @throws RequestFault 429
 */
export async function sessionOf(
  { partnerSessions, partnerCookieFailures, gate }: HasPartnerSessions,
  raw: IncomingMessage,
  cookie: string,
  acts: boolean,
): Promise<PartnerSession | null> {
  const unit = gate.unit(raw)
  const retryAfter = partnerCookieFailures.wait(unit, cookie)
  if (retryAfter > 0) throw tooMany('failures of this address', retryAfter)
  const session = await partnerSessions.sessionOf(cookie, acts)
  partnerCookieFailures.note(unit, cookie, session !== null)
  return session
}

export const nobody = (): NotSignedIn => new NotSignedIn('Cookie: nobody is signed in; ask the operator for a link')

export const tooMany = (what: string, retryAfter: number): RequestFault =>
  new RequestFault('err.request.too_many_requests', `too many ${what} within a minute; try again later`, undefined, {
    retryAfter,
  })

/** @throws RequestFault 400 */
export function refuseAuthorization({ authorization }: FastifyRequest['headers']): void {
  if (authorization === undefined) return
  throw new RequestFault('err.request.bad', 'Authorization: is not read here; sign in with a link of the operator')
}
