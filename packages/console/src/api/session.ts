/** The session of this browser: who is signed in, and how to sign in and out. */
import type { OperatorRole } from '@rollcall/core/model/operator'
import { ApiFault, noAnswerFault, readErrors } from './fault.ts'
import { consoleHeader } from './presence.ts'

export interface Session {
  readonly operator: string
  /** All roles, including those that another role contains. */
  readonly roles: readonly OperatorRole[]
  /** Namespaces of the registries to which the operator is bound; null for all. */
  readonly registries: readonly string[] | null
  readonly expires_at: string
  /** True if the server is set so that a second operator must approve some acts. */
  readonly two_person: boolean
  readonly demo: boolean
  /** Address of the page of a demo; null: the server is no demo. */
  readonly demo_page: string | null
}

/** A way to sign in. */
export interface SignInMethod {
  readonly title: string
  /** The address at which the sign-in begins; null: the person fills in a form on the sign-in page. */
  readonly start: string | null
}

export interface SessionState {
  /** Null: nobody is signed in. */
  readonly session: Session | null
  readonly offers: readonly SignInMethod[]
}

/** The key of the session in the cache of answers. */
export const SESSION_QUERY_KEY = ['session'] as const
const SESSION_PATH = '/admin/v1/session'

/** The state after the session has ended: the ways to sign in stay. */
export const withoutSession = (before: SessionState | undefined): SessionState => ({ offers: [], ...before, session: null })

/** Reads the session, and the ways to sign in. @throws ApiFault */
export async function readSession(): Promise<SessionState> {
  const { status, body } = await sendSessionCall('GET', SESSION_PATH)
  if (status !== 200 && status !== 401) throw new ApiFault(status, readErrors(status, body))
  const { sign_in = [], ...session } = body as Session & { sign_in?: readonly SignInMethod[] }
  return { session: status === 200 ? session : null, offers: sign_in }
}

/** Signs in with an operator token or the code of a link. @throws ApiFault */
export async function signIn(proof: { readonly token: string } | { readonly code: string }): Promise<void> {
  const { status, body } = await sendSessionCall('POST', SESSION_PATH, proof)
  if (status !== 201) throw new ApiFault(status, readErrors(status, body))
}

/** Ends the session. @throws ApiFault */
export async function signOut(): Promise<void> {
  const { status, body } = await sendSessionCall('POST', `${SESSION_PATH}/end`, {})
  if (status >= 300 && status !== 401) throw new ApiFault(status, readErrors(status, body))
}

async function sendSessionCall(method: string, address: string, given?: object) {
  const response = await fetch(address, {
    method,
    credentials: 'same-origin',
    redirect: 'error',
    headers: { ...consoleHeader(), ...(given && { 'Content-Type': 'application/json' }) },
    ...(given && { body: JSON.stringify(given) }),
  }).catch(() => {
    throw noAnswerFault()
  })
  const body: unknown = await response.json().catch(() => null)
  return { status: response.status, body: body ?? {} }
}
