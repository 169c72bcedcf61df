/** Who is signed in, for every part of a page. */

import type { OperatorRole } from '@rollcall/core/model/operator'
import { createContext, useContext } from 'react'
import type { Session } from '../api/session.ts'

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('a page is shown without a session')
  return session
}

/** True when the operator has a role: `useMay()('operate')`. Other acts are not offered; the server decides. */
export function useMay(): (role: OperatorRole) => boolean {
  const { roles } = useSession()
  return (role) => roles.includes(role)
}
