/** Finds out who calls the admin API: a program with a token, or an operator who is signed in to the console. */

import type { Operator } from '@rollcall/core/model/operator'
import { bearerToken, unauthorizedFault } from '@rollcall/engine/exchange/admit'
import type { OperatorTokenChecker } from '@rollcall/participants/directory/operators'
import type { Sessions } from '@rollcall/participants/directory/sessions'
import type { FastifyRequest } from 'fastify'
import { checkOperatorHost, type IsOperatorListenerHost } from '../operator-host.ts'
import { CONSOLE_SESSIONS, createPageSessions, type PageSessions, type SessionFailureLimits } from '../page-sessions.ts'
import type { IsReachedByTls } from '../session-cookie.ts'
import type { HasDemoContent } from '../showcase.ts'
import type { CallFacts } from './call-log.ts'

/** Facts about the operator's listener. */
export interface OperatorListener {
  readonly isOwnHost: IsOperatorListenerHost
  readonly isReachedByTls: IsReachedByTls
  /** Returns the content of the demo; null when the node shows no demo. */
  readonly showcase: HasDemoContent['showcase']
}

/** The dependencies of `authenticate`. */
export type AuthenticationDeps = SessionFailureLimits & {
  readonly operators: OperatorTokenChecker
  readonly sessions: Sessions<Operator>
}

/** Makes the functions that read cookies, find sessions and count failed sign-ins of the console. */
export const createConsolePageSessions = (
  deps: AuthenticationDeps,
  { isReachedByTls }: Pick<OperatorListener, 'isReachedByTls'>,
): PageSessions<Operator> => createPageSessions(CONSOLE_SESSIONS, deps, { sessions: deps.sessions, isReachedByTls })

/**
 * Finds the operator who calls, and writes the operator into `call`. If there is an Authorization header, the cookie is not read.
 * @param call the facts about this call for the log
 * @throws RequestFault 400, 401, 403, 421, 429
 */
export async function authenticate(
  deps: AuthenticationDeps,
  listener: OperatorListener,
  request: Pick<FastifyRequest, 'headers' | 'raw'>,
  call: CallFacts,
): Promise<Operator> {
  const { headers, raw } = request
  checkOperatorHost(listener.isOwnHost, raw)
  const page = createConsolePageSessions(deps, listener)
  if (headers.authorization === undefined && page.cookieOf(request) !== null) {
    const session = await page.signedIn(request)
    call.session = session
    call.operator = session.owner
    return session.owner
  }
  const operator = await deps.operators.operatorOf(bearerToken(headers.authorization))
  if (operator === null) {
    throw unauthorizedFault('Authorization: the operator token is not valid here, has expired or was revoked')
  }
  call.operator = operator
  return operator
}
