/** What every way of signing in has in common: failures are limited, and a session that has begun is accounted for. */
import type { IncomingMessage } from 'node:http'
import { accountOperator } from '@rollcall/admin/accounts/operator-looks'
import type { HasAccounts } from '@rollcall/admin/needs'
import type { Throttle } from '@rollcall/participants/admission/throttle'
import type { Directory } from '@rollcall/participants/directory/directory'
import type { OpenIdProvider } from '@rollcall/participants/directory/openid-provider'
import type { OperatorSession } from '@rollcall/participants/directory/operator-sessions'
import type { SessionLimits } from '@rollcall/participants/directory/sessions'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { Gate } from '../gate.ts'
import type { Authenticating, OperatorListener } from './authenticate.ts'
import type { Call, HasLog } from './call-log.ts'
import { CONSOLE_SESSION } from './console-session.ts'
import type { InputLimits } from './read-input.ts'

export type SessionParts = Authenticating &
  HasLog &
  Pick<HasAccounts, 'accounts'> & {
    readonly directory: Pick<Directory, 'registries'>
    readonly gate: Gate
    /** Null: operators sign in with tokens alone. */
    readonly openId: OpenIdProvider | null
    /** Whether some acts wait for a second operator. */
    readonly twoPerson: boolean
    readonly limits: InputLimits & SessionLimits
    /** By address. */
    readonly signInFailures: Throttle
  }

/** @throws RequestFault 429 too many sign-ins from the address have failed */
export function checkFailures(
  { gate, signInFailures }: Pick<SessionParts, 'signInFailures'> & { readonly gate: Pick<Gate, 'unit'> },
  request: IncomingMessage,
): void {
  const retryAfter = signInFailures.wait(gate.unit(request))
  if (retryAfter === 0) return
  throw new RequestFault(
    'err.request.too_many_requests',
    'too many sign-ins from this address have failed; try again later',
    undefined,
    { retryAfter },
  )
}

/**
 * Accounts for a session that has begun, and ends the one that the browser had before.
 * @returns the Set-Cookie header
 */
export async function admit(
  parts: SessionParts,
  { isReachedByTls }: OperatorListener,
  { request: { raw }, call }: { readonly request: Pick<FastifyRequest, 'raw'>; readonly call: Call },
  { cookie, session, note }: { readonly cookie: string; readonly session: OperatorSession; readonly note: string },
): Promise<string> {
  call.session = session
  call.operator = session.operator
  await accountOperator({ accounts: parts.accounts, operator: session.operator.name }, { note })
  const byTls = isReachedByTls(raw)
  const before = await sessionIn(parts, CONSOLE_SESSION.read(raw, byTls))
  if (before !== null) await parts.sessions.end(before)
  return CONSOLE_SESSION.begun(cookie, byTls)
}

/** The session of a cookie, which is looked at and not used. */
export const sessionIn = async (
  { sessions }: Authenticating,
  cookie: string | null,
): Promise<OperatorSession | null> => (cookie === null ? null : sessions.sessionOf(cookie, false))
