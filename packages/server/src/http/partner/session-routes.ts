/** Signing in to the partner page with a one-time link, and out. */

import { closed, flag, instant, NOTHING, SenderId, text, wholeNumber } from '@rollcall/admin/members'
import type { Log } from '@rollcall/observe/log'
import type { Throttle } from '@rollcall/participants/admission/throttle'
import type { PartnerSession } from '@rollcall/participants/directory/partner-sessions'
import type { SessionLimits } from '@rollcall/participants/directory/sessions'
import { RequestFault, validator } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { type InputLimits, readInput } from '../admin/read-input.ts'
import type { DescribedCall } from '../admin/route.ts'
import { checkFailures } from '../admin/session-admission.ts'
import { sendFault, sendJson } from '../answer.ts'
import { NotSignedIn } from '../gate.ts'
import { type HttpServer, mountMethods } from '../server.ts'
import {
  type HasPartnerSessions,
  nobody,
  PARTNER_SESSION,
  type PartnerListener,
  refuseAuthorization,
  sessionOf,
  signedIn,
} from './partner-session.ts'
import { inputLimits, PARTNER_BASE } from './route.ts'

const SESSION = closed({
  sender_id: SenderId,
  expires_at: instant('When the session ends at the latest.'),
  idle_seconds: wholeNumber('Seconds without a call of the person after which it ends.'),
  demo: flag('Whether the data are those of a demo.'),
})

const PLAIN = { hidden: [], status: 200, deprecated: undefined } as const

/** As rows of the partner API. */
export const PARTNER_SESSION_CALLS = {
  begin: {
    ...PLAIN,
    method: 'POST',
    path: '/session',
    name: 'beginPartnerSession',
    status: 201,
    summary: 'Signs in with the code of a link, which is good once. Sets the cookie of the session.',
    input: closed({ code: text('The code of a link that `rollcall participant link` printed.') }),
    result: SESSION,
  },
  show: {
    ...PLAIN,
    method: 'GET',
    path: '/session',
    name: 'showPartnerSession',
    summary: 'Who is signed in. Signed out it answers 401.',
    input: NOTHING,
    result: SESSION,
  },
  end: {
    ...PLAIN,
    method: 'POST',
    path: '/session/end',
    name: 'endPartnerSession',
    summary: 'Signs out: the session ends on every node.',
    input: NOTHING,
    result: NOTHING,
  },
} as const satisfies Record<string, DescribedCall>

export type PartnerSessionParts = HasPartnerSessions & {
  readonly log: Pick<Log, 'info'>
  readonly limits: InputLimits & SessionLimits
  /** By address. */
  readonly partnerSignInFailures: Throttle
}

export function addPartnerSessionRoutes(app: HttpServer, parts: PartnerSessionParts, listener: PartnerListener): void {
  const row = (
    { method, name, deprecated }: DescribedCall,
    work: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
  ) => ({ method, name, deprecated, handler: work })
  const { begin, show, end } = PARTNER_SESSION_CALLS
  mountMethods(app, `${PARTNER_BASE}${begin.path}`, [
    row(begin, (request, reply) => beginSession(parts, listener, request, reply)),
    row(show, async (request, reply) => {
      const cookie = PARTNER_SESSION.read(request.raw, listener.isReachedByTls(request.raw))
      // Opening the page signed out is no failure, but a cookie that is not good is.
      if (cookie === null) return sendFault(reply, nobody())
      sendJson(reply, show.status, JSON.stringify(described(parts, listener, await signedIn(parts, listener, request))))
    }),
  ])
  mountMethods(app, `${PARTNER_BASE}${end.path}`, [
    row(end, (request, reply) => endSession(parts, listener, request, reply)),
  ])
}

const codes = validator(PARTNER_SESSION_CALLS.begin.input)

/** @throws RequestFault 400, 401, 403, 413, 415, 429 */
async function beginSession(
  parts: PartnerSessionParts,
  { isReachedByTls, isDemo }: PartnerListener,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw, headers } = request
  refuseAuthorization(headers)
  // Another page must not sign somebody in here, as another participant.
  PARTNER_SESSION.checkOwn(headers)
  const byTls = isReachedByTls(raw)
  const earlier = PARTNER_SESSION.read(raw, byTls)
  checkFailures({ gate: parts.gate, signInFailures: parts.partnerSignInFailures }, raw)
  const { begin } = PARTNER_SESSION_CALLS
  const input = await readInput(begin, request, inputLimits(parts))
  const problem = codes.firstProblem(input)
  if (problem !== null) throw bad(`${problem.at.join('.')}: ${problem.rule}`)

  const participant = await parts.partnerSessions.spendCode(String(input.code))
  const begun = participant === null ? null : await parts.partnerSessions.begin(participant)
  if (begun === null) {
    parts.partnerSignInFailures.fail(parts.gate.unit(raw))
    throw new NotSignedIn('code: is not valid here, was used before or has expired; ask the operator for a new link')
  }
  const { cookie, session } = begun
  parts.partnerCookieFailures.note(parts.gate.unit(raw), cookie, true)
  const before = earlier === null ? null : await parts.partnerSessions.sessionOf(earlier, false)
  if (before !== null) await parts.partnerSessions.end(before)
  parts.gate.identified(raw, session.sender_id)
  note(parts, 'signed in', session)
  const body = JSON.stringify(described(parts, { isDemo }, session))
  sendJson(reply, begin.status, body, { 'Set-Cookie': PARTNER_SESSION.begun(cookie, byTls) })
}

/** @throws RequestFault 400, 403, 413, 415, 429 */
async function endSession(
  parts: PartnerSessionParts,
  { isReachedByTls }: PartnerListener,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw, headers } = request
  refuseAuthorization(headers)
  PARTNER_SESSION.checkOwn(headers)
  await readInput(PARTNER_SESSION_CALLS.end, request, inputLimits(parts))
  const byTls = isReachedByTls(raw)
  const cookie = PARTNER_SESSION.read(raw, byTls)
  const session = cookie === null ? null : await sessionOf(parts, raw, cookie, false)
  if (session !== null) {
    await parts.partnerSessions.end(session)
    note(parts, 'signed out', session)
  }
  sendJson(reply, PARTNER_SESSION_CALLS.end.status, '{}', { 'Set-Cookie': PARTNER_SESSION.ended(byTls) })
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)

const note = ({ log }: PartnerSessionParts, act: string, { session, sender_id }: PartnerSession): void =>
  log.info({ participant: sender_id, session, act }, 'partner page')

const described = (
  { limits }: PartnerSessionParts,
  { isDemo }: Pick<PartnerListener, 'isDemo'>,
  { sender_id, ends_at }: PartnerSession,
): Static<typeof SESSION> => ({
  sender_id,
  expires_at: ends_at.toISOString(),
  idle_seconds: limits.session_idle,
  demo: isDemo(),
})
