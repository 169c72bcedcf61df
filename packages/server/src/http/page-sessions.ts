/**
 * The parts that the console and the partner page share: a session in a cookie that only their own pages can use, and
 * limits of failures of an address.
 */
import type { IncomingMessage } from 'node:http'
import type { Throttle } from '@rollcall/participants/admission/throttle'
import type { Session, Sessions } from '@rollcall/participants/directory/sessions'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { CookieGuessLimiter } from './cookie-failures.ts'
import { NotSignedIn, type RequestGate } from './request-gate.ts'
import { createSessionCookies, type IsReachedByTls, type SessionPageNames } from './session-cookie.ts'

/** The limits of failures. Each page counts alone: a stranger at one page locks nobody out of the other. */
export interface SessionFailureLimits {
  readonly signInFailures: Throttle
  readonly cookieFailures: CookieGuessLimiter
  readonly requestGate: Pick<RequestGate, 'unit' | 'faultToAnswer'>
}

/** How the sessions of the console and of the partner page differ. */
interface PageSessionSettings extends SessionPageNames {
  /** `nobody` is the advice in the refusal when nobody is signed in; `ended` is the advice when the session has ended. */
  readonly nobody: string
  readonly ended: string
  /** The message that refuses a call with an Authorization header; null when the header is used and the cookie is ignored. */
  readonly authorization: string | null
  /**
   * True: a valid cookie is accepted even when its address has too many failures, so that others behind the same address lock no
   * operator out. False: from such an address, only cookies that this node has found valid before are looked up.
   */
  readonly checksCookieFirst: boolean
}

/** The settings of sessions of the console. */
export const CONSOLE_SESSIONS: PageSessionSettings = {
  cookie: 'rollcall_session',
  header: 'Rollcall-Console',
  title: 'the console',
  nobody: 'sign in first',
  ended: 'sign in again',
  authorization: null,
  checksCookieFirst: true,
}

/** The settings of sessions of the partner page. */
export const PARTNER_SESSIONS: PageSessionSettings = {
  cookie: 'rollcall_partner',
  header: 'Rollcall-Partner',
  title: 'the partner page',
  nobody: 'ask the operator for a link',
  ended: 'ask the operator for a new link',
  authorization: 'Authorization: is not read here; sign in with a link of the operator',
  checksCookieFirst: false,
}

/** The parts of a request that the functions for sessions read. */
export type SessionRequest = Pick<FastifyRequest, 'raw' | 'headers'>

/** The functions for the sessions of the console, or of the partner page. */
export interface PageSessions<Owner> {
  /** Reads the cookie of a request; null when there is none. @throws RequestFault 400 for two cookies */
  cookieOf(request: SessionRequest): string | null
  /**
   * Checks that the call comes from the console, or from the partner page.
   * @returns acts: true when a person did something on the page, false when the page polls by itself
   * @throws RequestFault 400 an Authorization header that is not read here; 403 the call does not come from these pages
   */
  checkOwn(request: SessionRequest): { readonly acts: boolean }
  /** Refuses an address from which too many sign-ins have failed. @throws RequestFault 429 */
  checkFailures(request: SessionRequest): void
  /** Counts a failed sign-in for the address of the request. */
  failed(request: SessionRequest): void
  /**
   * Finds the session of a cookie; null: invalid, or ended.
   * @param acts true when a person did something, which keeps the session alive; false when the page polls
   * @throws RequestFault 429 the address sent too many invalid cookies
   */
  sessionOf(request: SessionRequest, cookie: string, acts: boolean): Promise<Session<Owner> | null>
  /** Finds the session of a request. @throws RequestFault 400, 401, 403, 429 */
  signedIn(request: SessionRequest): Promise<Session<Owner>>
  /**
   * Notes the cookie of a new session as valid, and ends the browser's earlier session.
   * @returns the Set-Cookie header of the new session
   */
  admit(request: SessionRequest, begun: { readonly cookie: string }): Promise<string>
  /** Returns the Set-Cookie header that removes the session's cookie from the browser. */
  forgotten(request: SessionRequest): string
  readonly nobody: () => NotSignedIn
}

export function createPageSessions<Owner>(
  text: PageSessionSettings,
  { signInFailures, cookieFailures, requestGate }: SessionFailureLimits,
  { sessions, isReachedByTls }: { readonly sessions: Sessions<Owner>; readonly isReachedByTls: IsReachedByTls },
): PageSessions<Owner> {
  const cookies = createSessionCookies(text)
  const unit = (request: IncomingMessage): string => `${text.cookie} ${requestGate.unit(request)}`
  const page: PageSessions<Owner> = {
    cookieOf: ({ raw }) => cookies.read(raw, isReachedByTls(raw)),
    checkOwn({ headers }) {
      if (text.authorization !== null && headers.authorization !== undefined) {
        throw new RequestFault('err.request.bad', text.authorization)
      }
      return cookies.checkOwn(headers)
    },
    checkFailures({ raw }) {
      const retryAfter = signInFailures.wait(unit(raw))
      if (retryAfter > 0)
        throw tooManyRequestsFault('too many sign-ins from this address have failed; try again later', retryAfter)
    },
    failed: ({ raw }) => signInFailures.fail(unit(raw)),
    async sessionOf({ raw }, cookie, acts) {
      const retryAfter = cookieFailures.wait(unit(raw), cookie)
      const found = retryAfter === 0 || text.checksCookieFirst ? await sessions.sessionOf(cookie, acts) : null
      if (retryAfter > 0 && found === null) throw tooManyFault('failures of this address', retryAfter)
      cookieFailures.note(unit(raw), cookie, found !== null)
      return found
    },
    async signedIn(request) {
      const cookie = page.cookieOf(request)
      const { acts } = page.checkOwn(request)
      if (cookie === null) throw page.nobody()
      const session = await page.sessionOf(request, cookie, acts)
      if (session === null) throw new NotSignedIn(`Cookie: the session has ended; ${text.ended}`)
      return session
    },
    async admit({ raw }, { cookie }) {
      const byTls = isReachedByTls(raw)
      cookieFailures.note(unit(raw), cookie, true)
      const earlier = cookies.read(raw, byTls)
      const before = earlier === null ? null : await sessions.sessionOf(earlier, false)
      if (before !== null) await sessions.end(before)
      return cookies.begun(cookie, byTls)
    },
    forgotten: ({ raw }) => cookies.ended(isReachedByTls(raw)),
    nobody: () => new NotSignedIn(`Cookie: nobody is signed in; ${text.nobody}`),
  }
  return page
}

const tooManyRequestsFault = (message: string, retryAfter: number): RequestFault =>
  new RequestFault('err.request.too_many_requests', message, undefined, { retryAfter })

/** The fault 429 for too many of something within a minute. @param what the plural for the message */
export const tooManyFault = (what: string, retryAfter: number): RequestFault =>
  tooManyRequestsFault(`too many ${what} within a minute; try again later`, retryAfter)
