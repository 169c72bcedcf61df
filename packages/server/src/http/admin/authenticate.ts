/** Who calls the admin API: a program with a token, or an operator who is signed in to the console. */

import type { Operator } from '@rollcall/core/model/operator'
import { bearerToken, unauthorized } from '@rollcall/engine/exchange/authenticate'
import type { OperatorSessions } from '@rollcall/participants/directory/operator-sessions'
import type { Operators } from '@rollcall/participants/directory/operators'
import type { FastifyRequest } from 'fastify'
import { checkOperatorHost, type IsOwnHost } from '../operator-host.ts'
import type { IsReachedByTls } from '../session-cookie.ts'
import type { Call } from './call-log.ts'
import { CONSOLE_SESSION } from './console-session.ts'

/** What the operator's listener knows of itself. */
export interface OperatorListener {
  readonly isOwnHost: IsOwnHost
  readonly isReachedByTls: IsReachedByTls
  /** Whether its data are those of a demo. */
  readonly isDemo: () => boolean
}

export interface Authenticating {
  readonly operators: Operators
  readonly sessions: OperatorSessions
}

/**
 * Who calls; noted in `call`. A request with an Authorization header is judged by that alone.
 * @throws RequestFault 400, 401, 403, 421
 */
export async function authenticate(
  { operators, sessions }: Authenticating,
  { isOwnHost, isReachedByTls }: OperatorListener,
  { headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>,
  call: Call,
): Promise<Operator> {
  checkOperatorHost(isOwnHost, raw)
  const cookie = headers.authorization === undefined ? CONSOLE_SESSION.read(raw, isReachedByTls(raw)) : null
  if (cookie !== null) {
    const { acts } = CONSOLE_SESSION.checkOwn(headers)
    const session = await sessions.sessionOf(cookie, acts)
    if (session === null) throw unauthorized('Cookie: the session has ended; sign in again')
    call.session = session
    call.operator = session.operator
    return session.operator
  }
  const operator = await operators.operatorOf(bearerToken(headers.authorization))
  if (operator === null) {
    throw unauthorized('Authorization: the operator token is not valid here, has expired or was revoked')
  }
  call.operator = operator
  return operator
}
