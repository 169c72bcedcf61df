/** Signs operators in to the console: with a token, with the code of a link, or at a provider of OpenID Connect. */

import { hasRole, OPERATOR_ROLES } from '@rollcall/core/model/operator'
import type { OperatorSession } from '@rollcall/participants/directory/sessions'
import { RequestFault } from '@rollcall/protocol'
import { checkOperatorHost } from '../operator-host.ts'
import type { HttpServer } from '../server.ts'
import { addSessionRoutes, type SignInCheckResult } from '../session-routes.ts'
import { createConsolePageSessions, type OperatorListener } from './authenticate.ts'
import { type CallFacts, runLoggedCall } from './call-log.ts'
import { addOpenIdRoutes, OPENID_START_PATH } from './openid-routes.ts'
import { ADMIN_BASE } from './route.ts'
import { SESSION_CALLS } from './session-calls.ts'
import { auditSignIn, noteSessionInCall, type SessionDeps } from './session-parts.ts'

export function addOperatorSessionRoutes(app: HttpServer, deps: SessionDeps, listener: OperatorListener): void {
  const { sessions, limits, requestGate } = deps
  addSessionRoutes(app, {
    base: ADMIN_BASE,
    calls: SESSION_CALLS,
    page: createConsolePageSessions(deps, listener),
    sessions,
    limits,
    requestGate,
    around: (name, request, work: (call: CallFacts) => Promise<void>) =>
      runLoggedCall(deps, name, request, (call) => {
        checkOperatorHost(listener.isOwnHost, request.raw)
        return work(call)
      }),
    shown: (input) => checkTokenOrSpendCode(deps, input),
    known: (session, call) => noteSessionInCall(call, session),
    note: (session, act) => auditSignIn(deps, session, act === 'ended' ? 'operator sign-out' : act.begun),
    described: (session) => describeSession(deps, listener, session),
    signedOut: () => ({ sign_in: signInMethods(deps), demo: listener.showcase() !== null }),
  })
  if (deps.openId !== null) addOpenIdRoutes(app, deps, deps.openId, listener)
}

/**
 * Checks the token, or spends the one-time code, with which a person signs in. In the result, `by` is null when the
 * token or code is not valid.
 * @throws RequestFault 400 none or both are given
 */
async function checkTokenOrSpendCode({ operators, sessions }: SessionDeps, input: object): Promise<SignInCheckResult> {
  const { token, code } = input as { readonly token?: string; readonly code?: string }
  if (token !== undefined && code === undefined) {
    const id = (await operators.operatorOf(token))?.id ?? null
    return {
      by: id === null ? null : { token: id },
      refusal: 'token: is not valid here, has expired or was revoked',
      note: 'operator sign-in by token',
    }
  }
  if (code !== undefined && token === undefined) {
    return {
      by: await sessions.spendCode(code),
      refusal: 'code: is not valid here, was used before or has expired; ask for a new link',
      note: 'operator sign-in by link',
    }
  }
  throw new RequestFault('err.request.bad', 'token: must be given, or code in place of it')
}

async function describeSession(deps: SessionDeps, { showcase }: OperatorListener, { owner, ends_at }: OperatorSession) {
  const { directory, limits, twoPerson } = deps
  const { name, registries } = owner
  const bound = registries && (await directory.registries()).filter(({ id }) => registries.includes(id))
  return {
    operator: name,
    roles: OPERATOR_ROLES.filter((role) => hasRole(owner, role)),
    registries: bound?.map(({ namespace }) => namespace) ?? null,
    expires_at: ends_at.toISOString(),
    idle_seconds: limits.session_idle,
    two_person: twoPerson,
    demo: showcase() !== null,
    demo_page: showcase()?.demoPage ?? null,
    sign_in: signInMethods(deps),
  }
}

const signInMethods = ({ openId }: Pick<SessionDeps, 'openId'>) => [
  { method: 'token', title: 'Token of the admin API', start: null },
  ...(openId === null ? [] : [{ method: 'openid', title: openId.title, start: OPENID_START_PATH }]),
]
