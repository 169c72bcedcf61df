/** The session of the signed-in operator, for every part of a page. */

import type { OperatorRole } from '@rollcall/core/model/operator'
import { createContext, useContext } from 'react'
import type { Session } from '../api/session.ts'

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('a page is shown without a session')
  return session
}

/** Returns a check of the operator's roles, as in `useMay()('operate')`. The server decides again. */
export function useMay(): (role: OperatorRole) => boolean {
  const { roles } = useSession()
  return (role) => roles.includes(role)
}
