/** Routes that sign a person in to the console or the partner page, and out, and say who is signed in. */

import type { Session, Sessions } from '@rollcall/participants/directory/sessions'
import type { SignInMeans } from '@rollcall/participants/store/sessions'
import { RequestFault, validator } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type InputLimits, readInput } from './admin/read-input.ts'
import type { DescribedCall } from './admin/route.ts'
import { sendFault, sendJson } from './answer.ts'
import type { PageSessions, SessionRequest } from './page-sessions.ts'
import { NotSignedIn, type RequestGate } from './request-gate.ts'
import { type HttpServer, mountMethods } from './server.ts'

/** The result of checking the token or code with which a person signs in. */
export interface SignInCheckResult {
  /** The operator token or the participant to which the token or code belongs. Null: the token or code is not valid. */
  readonly by: SignInMeans | null
  /** The message that refuses the sign-in when the token or code is not valid. */
  readonly refusal: string
  /** The note of the sign-in, for the audit entry or the log. */
  readonly note: string
}

/** How the session calls of a page differ from those of other pages. `About` is the type of a call's log facts. */
export interface SessionRouteSettings<Owner, About> {
  readonly base: string
  readonly calls: Readonly<Record<'begin' | 'show' | 'end', DescribedCall>>
  readonly page: PageSessions<Owner>
  readonly sessions: Sessions<Owner>
  readonly limits: InputLimits
  readonly requestGate: Pick<RequestGate, 'faultToAnswer'>
  /** Runs the work of a call; for the console, it also checks the host and logs the call. */
  readonly around: (name: string, request: FastifyRequest, work: (about: About) => Promise<void>) => Promise<void>
  /** Reads and checks the token or code; the input has the members of `calls.begin`. @throws RequestFault 400 */
  readonly shown: (input: object) => Promise<SignInCheckResult>
  /** Called when the session of a call is found or begun: notes its owner for the log. */
  readonly known: (session: Session<Owner>, about: About, request: SessionRequest) => void
  /**
   * Audits or logs that a session has begun, before its cookie is sent, or that it has ended.
   * @param act `begun` is the `note` of the sign-in check: how the person signed in
   */
  readonly note: (session: Session<Owner>, act: { readonly begun: string } | 'ended') => Promise<void> | void
  readonly described: (session: Session<Owner>) => Promise<object> | object
  /** Members of the answer beside the fault when nobody is signed in. */
  readonly signedOut: () => object
}

export function addSessionRoutes<Owner, About>(app: HttpServer, deps: SessionRouteSettings<Owner, About>): void {
  const row = (
    { method, name, deprecated }: DescribedCall,
    work: (request: FastifyRequest, reply: FastifyReply, about: About) => Promise<void>,
  ) => ({
    method,
    name,
    deprecated,
    handler: (request: FastifyRequest, reply: FastifyReply) => deps.around(name, request, (about) => work(request, reply, about)),
  })
  const { base, calls } = deps
  const inputs = validator(calls.begin.input)
  mountMethods(app, `${base}${calls.begin.path}`, [
    row(calls.begin, async (request, reply, about) => {
      const { page } = deps
      // Another page must not sign a person in here with somebody else's token.
      page.checkOwn(request)
      page.cookieOf(request)
      page.checkFailures(request)
      const input = await readInput(calls.begin, request, deps.limits)
      const problem = inputs.firstProblem(input)
      if (problem !== null) throw new RequestFault('err.request.bad', `${problem.at.join('.')}: ${problem.rule}`)
      const { by, refusal, note } = await deps.shown(input)
      const begun = by === null ? null : await deps.sessions.begin(by)
      if (begun === null) {
        page.failed(request)
        throw new NotSignedIn(refusal)
      }
      deps.known(begun.session, about, request)
      await deps.note(begun.session, { begun: note })
      const cookie = await page.admit(request, begun)
      sendJson(reply, calls.begin.status, JSON.stringify(await deps.described(begun.session)), { 'Set-Cookie': cookie })
    }),
    row(calls.show, async (request, reply, about) => {
      const cookie = deps.page.cookieOf(request)
      // To open the page without a cookie is no failure. To send an invalid cookie is a failure.
      if (cookie === null) return sendFault(reply, deps.page.nobody(), {}, deps.signedOut())
      const session = await deps.page.signedIn(request).catch((error: unknown) => {
        if (error instanceof NotSignedIn) return error
        throw error
      })
      if (session instanceof NotSignedIn) {
        return sendFault(reply, deps.requestGate.faultToAnswer(request.raw, session), {}, deps.signedOut())
      }
      deps.known(session, about, request)
      sendJson(reply, calls.show.status, JSON.stringify(await deps.described(session)))
    }),
  ])
  mountMethods(app, `${base}${calls.end.path}`, [
    row(calls.end, async (request, reply, about) => {
      const { page } = deps
      page.checkOwn(request)
      await readInput(calls.end, request, deps.limits)
      const cookie = page.cookieOf(request)
      const session = cookie === null ? null : await page.sessionOf(request, cookie, false)
      if (session !== null) {
        deps.known(session, about, request)
        await deps.sessions.end(session)
        await deps.note(session, 'ended')
      }
      // A session that has ended already is no error: the browser deletes its cookie.
      sendJson(reply, calls.end.status, '{}', { 'Set-Cookie': page.forgotten(request) })
    }),
  ])
}
