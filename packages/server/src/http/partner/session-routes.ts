/** Signs people of a participant in to the partner page, with a one-time link, and out. */

import { closed, flag, instant, NO_INPUT, SenderId, text, wholeNumber } from '@rollcall/admin/members'
import type { PartnerDeps } from '@rollcall/admin/partner/partner'
import type { Log } from '@rollcall/observe/log'
import type { PartnerSession, SessionLimits, Sessions } from '@rollcall/participants/directory/sessions'
import type { Static } from 'typebox'
import type { InputLimits } from '../admin/read-input.ts'
import { createPageSessions, PARTNER_SESSIONS, type PageSessions, type SessionFailureLimits } from '../page-sessions.ts'
import type { RequestGate } from '../request-gate.ts'
import type { HttpServer } from '../server.ts'
import type { IsReachedByTls } from '../session-cookie.ts'
import { addSessionRoutes } from '../session-routes.ts'
import { PARTNER_BASE, type PartnerCall, partnerInputLimits } from './route.ts'

const PARTNER_SESSION_ANSWER = closed({
  sender_id: SenderId,
  expires_at: instant('When the session ends at the latest.'),
  idle_seconds: wholeNumber('Seconds without a call of the person after which it ends.'),
  demo: flag('Whether the data are those of a demo.'),
})

const PARTNER_CALL_DEFAULTS = { audience: 'participant', hidden: [], status: 200, deprecated: undefined } as const

/** The descriptions of the calls that sign in, say who is signed in, and sign out. */
export const PARTNER_SESSION_CALLS = {
  begin: {
    ...PARTNER_CALL_DEFAULTS,
    method: 'POST',
    path: '/session',
    name: 'beginPartnerSession',
    status: 201,
    summary: 'Signs in with the code of a link, which is good once. Sets the cookie of the session.',
    input: closed({ code: text('The code of a link that `rollcall participant link` printed.') }),
    result: PARTNER_SESSION_ANSWER,
  },
  show: {
    ...PARTNER_CALL_DEFAULTS,
    method: 'GET',
    path: '/session',
    name: 'showPartnerSession',
    summary: 'Who is signed in. Signed out it answers 401.',
    input: NO_INPUT,
    result: PARTNER_SESSION_ANSWER,
  },
  end: {
    ...PARTNER_CALL_DEFAULTS,
    method: 'POST',
    path: '/session/end',
    name: 'endPartnerSession',
    summary: 'Signs out: the session ends on every node.',
    input: NO_INPUT,
    result: NO_INPUT,
  },
} as const satisfies Record<string, PartnerCall>

/** Facts about the peers' listener. */
export interface PartnerListener {
  readonly isReachedByTls: IsReachedByTls
  /** True when the data of this server are those of a demo. */
  readonly isDemo: () => boolean
  readonly sampleOf: PartnerDeps['sampleOf']
}

export type PartnerSessionDeps = SessionFailureLimits & {
  readonly partnerSessions: Sessions<string>
  readonly log: Pick<Log, 'info'>
  readonly limits: InputLimits & SessionLimits
  readonly requestGate: Pick<RequestGate, 'noteParticipant' | 'unit' | 'faultToAnswer'>
}

/** Makes the functions that read cookies, find sessions and count failed sign-ins of the partner page. */
export const createPartnerPageSessions = (
  deps: PartnerSessionDeps,
  { isReachedByTls }: Pick<PartnerListener, 'isReachedByTls'>,
): PageSessions<string> => createPageSessions(PARTNER_SESSIONS, deps, { sessions: deps.partnerSessions, isReachedByTls })

export function addPartnerSessionRoutes(app: HttpServer, deps: PartnerSessionDeps, listener: PartnerListener): void {
  const { partnerSessions: sessions, limits, requestGate, log } = deps
  addSessionRoutes(app, {
    base: PARTNER_BASE,
    calls: PARTNER_SESSION_CALLS,
    page: createPartnerPageSessions(deps, listener),
    sessions,
    limits: partnerInputLimits(deps),
    requestGate,
    around: (_name, _request, work) => work(undefined),
    shown: async (input) => ({
      by: await sessions.spendCode((input as { readonly code: string }).code),
      refusal: 'code: is not valid here, was used before or has expired; ask the operator for a new link',
      note: 'signed in',
    }),
    known: ({ owner }, _about, { raw }) => requestGate.noteParticipant(raw, owner),
    note: ({ id, owner }, act) =>
      log.info({ participant: owner, session: id, act: act === 'ended' ? 'signed out' : act.begun }, 'partner page'),
    described: ({ owner, ends_at }: PartnerSession): Static<typeof PARTNER_SESSION_ANSWER> => ({
      sender_id: owner,
      expires_at: ends_at.toISOString(),
      idle_seconds: limits.session_idle,
      demo: listener.isDemo(),
    }),
    signedOut: () => ({}),
  })
}
