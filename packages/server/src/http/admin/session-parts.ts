/** The parts that all ways of signing in to the console share. */

import type { BaseActDeps } from '@rollcall/admin/act'
import { auditAct } from '@rollcall/admin/audit/operator-entries'
import type { Directory } from '@rollcall/participants/directory/directory'
import type { OpenIdProvider } from '@rollcall/participants/directory/openid-provider'
import type { OperatorSession, SessionLimits } from '@rollcall/participants/directory/sessions'
import type { AuthenticationDeps } from './authenticate.ts'
import type { CallFacts, CallLogDeps } from './call-log.ts'
import type { InputLimits } from './read-input.ts'

export type SessionDeps = AuthenticationDeps &
  CallLogDeps &
  Pick<BaseActDeps, 'auditLog'> & {
    readonly directory: Pick<Directory, 'registries'>
    /** The provider of OpenID Connect; null: operators sign in only with tokens and links. */
    readonly openId: OpenIdProvider | null
    /** True when some acts wait for a second operator. */
    readonly twoPerson: boolean
    readonly limits: InputLimits & SessionLimits
  }

/** Notes the session and its operator in the facts about a call that are logged. */
export function noteSessionInCall(call: CallFacts, session: OperatorSession): void {
  call.session = session
  call.operator = session.owner
}

/** Writes the audit entry of a sign-in or sign-out. */
export const auditSignIn = ({ auditLog }: Pick<BaseActDeps, 'auditLog'>, session: OperatorSession, note: string) =>
  auditAct({ auditLog, caller: { kind: 'operator', operator: session.owner } }, { note })
