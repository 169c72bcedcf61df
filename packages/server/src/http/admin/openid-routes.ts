/** Signs operators in to the console at a provider of OpenID Connect: the browser goes there and comes back. */

import { unauthorizedFault } from '@rollcall/engine/exchange/admit'
import {
  NO_REGISTRY_MESSAGE,
  type OpenIdProvider,
  OpenIdRefused,
  OpenIdUnavailable,
} from '@rollcall/participants/directory/openid-provider'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { plainPage, sendPageWithSecurityHeaders } from '../console.ts'
import { checkOperatorHost } from '../operator-host.ts'
import { html } from '../page.ts'
import { NotSignedIn } from '../request-gate.ts'
import { type HttpServer, mountHandler } from '../server.ts'
import { readCookie } from '../session-cookie.ts'
import { createConsolePageSessions, type OperatorListener } from './authenticate.ts'
import { type CallFacts, runLoggedCall } from './call-log.ts'
import { ADMIN_BASE } from './route.ts'
import { auditSignIn, noteSessionInCall, type SessionDeps } from './session-parts.ts'

/** The path to which the button on the sign-in page leads. */
export const OPENID_START_PATH = `${ADMIN_BASE}/session/openid`

type OpenIdPageHandler = (request: FastifyRequest, reply: FastifyReply, call: CallFacts) => Promise<void>

export function addOpenIdRoutes(app: HttpServer, deps: SessionDeps, provider: OpenIdProvider, listener: OperatorListener): void {
  const page = (name: string, path: string, work: OpenIdPageHandler): void =>
    mountHandler(app, 'GET', name, path, async (request, reply) => {
      try {
        await runLoggedCall(deps, name, request, (call) => {
          checkOperatorHost(listener.isOwnHost, request.raw)
          return work(request, reply, call)
        })
      } catch (error) {
        if (!(error instanceof RequestFault)) throw error
        sendRefusalPage(reply, deps.requestGate.faultToAnswer(request.raw, error))
      }
    })
  page('beginOpenId', OPENID_START_PATH, (request, reply) => beginSignIn(provider, listener, request, reply))
  page('endOpenId', `${OPENID_START_PATH}/callback`, (request, reply, call) =>
    completeSignIn(deps, provider, listener, request, reply, call),
  )
}

/** Refuses with a page and not with JSON, because a person reads it. */
function sendRefusalPage(reply: FastifyReply, fault: RequestFault): void {
  const text = plainPage('You are not signed in', html`${fault.message}.`, html`<a href="/">Back to the sign-in page</a>`)
  sendPageWithSecurityHeaders(reply, fault.httpStatus, text)
}

/** The most seconds that a sign-in at the provider may take. */
const SIGN_IN_COOKIE_SECONDS = 600

/**
 * The Set-Cookie header that keeps the secret of one sign-in in the browser. `Lax`: the browser comes back from another site.
 * @param value the secret; '' removes the cookie
 * @param byTls true when the browser reaches the console over HTTPS
 */
function openIdCookie(value: string, byTls: boolean): string {
  const age = value === '' ? 0 : SIGN_IN_COOKIE_SECONDS
  return `${cookieName(byTls)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${byTls ? '; Secure' : ''}`
}

const cookieName = (byTls: boolean): string => (byTls ? '__Host-rollcall_openid' : 'rollcall_openid')

/** Sends the browser to the provider. @throws RequestFault 403 another site's page began it; 503 the provider does not answer */
async function beginSignIn(
  provider: OpenIdProvider,
  { isReachedByTls }: OperatorListener,
  { raw, headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new RequestFault('err.request.forbidden', 'a sign-in begins at the page of the console')
  }
  const { address, secret } = await provider.begin().catch((error: unknown) => {
    if (!(error instanceof OpenIdRefused)) throw error
    throw new RequestFault('err.service.unavailable', error.message)
  })
  redirect(reply, 302, address, [openIdCookie(secret, isReachedByTls(raw))])
}

/** Begins the session of an operator who comes back from the provider. @throws RequestFault 400, 401, 429, 503 */
async function completeSignIn(
  deps: SessionDeps,
  provider: OpenIdProvider,
  listener: OperatorListener,
  request: FastifyRequest,
  reply: FastifyReply,
  call: CallFacts,
): Promise<void> {
  const { raw } = request
  const page = createConsolePageSessions(deps, listener)
  page.checkFailures(request)
  const byTls = listener.isReachedByTls(raw)
  // The cookie can be used once, whatever the result is.
  const clearedCookieHeader = openIdCookie('', byTls)
  reply.raw.setHeader('Set-Cookie', [clearedCookieHeader])
  const secret = readCookie(raw, cookieName(byTls))
  // A missing cookie does not count as a failed sign-in: a foreign page could send the browser here until the limit is reached.
  if (secret === null || secret === '') {
    throw new NotSignedIn('this browser has begun no sign-in, or it took more than 10 minutes')
  }
  const failed = (message: string): RequestFault => {
    page.failed(request)
    return unauthorizedFault(message)
  }
  const by = await provider.operatorOf(secret, new URL(request.url, 'http://here').search).catch((error: unknown) => {
    if (error instanceof OpenIdUnavailable) throw new RequestFault('err.service.unavailable', error.message)
    if (!(error instanceof OpenIdRefused)) throw error
    throw failed(error.message)
  })
  const known = by.registries === null ? [] : await deps.directory.registries()
  const registries = by.registries && known.flatMap(({ id, namespace }) => (by.registries?.includes(namespace) ? [id] : []))
  if (registries?.length === 0) throw failed(NO_REGISTRY_MESSAGE)
  const begun = await deps.sessions.begin({ ...by, registries })
  if (begun === null) throw failed('the session could not begin')
  noteSessionInCall(call, begun.session)
  await auditSignIn(deps, begun.session, 'operator sign-in by OpenID Connect')
  const cookie = await page.admit(request, begun)
  redirect(reply, 303, '/', [clearedCookieHeader, cookie])
}

function redirect(reply: FastifyReply, status: number, location: string, cookies: readonly string[]): void {
  reply.hijack()
  reply.raw.setHeader('Set-Cookie', [...cookies])
  reply.raw
    .writeHead(status, {
      Location: location,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'Content-Length': '0',
    })
    .end()
}
