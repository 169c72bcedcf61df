/** The operator's console: the sign-in, or the pages of the operator who is signed in. */
import { useQuery } from '@tanstack/react-query'
import { Redirect, useLocation } from 'wouter'
import { queryClient } from './api/queries.ts'
import { readSession, SESSION_QUERY_KEY } from './api/session.ts'
import { Fault, Skeleton } from './parts/states.tsx'
import { SessionContext } from './session/session.ts'
import { isSignInLink, SignInPage } from './session/sign-in.tsx'
import { AppFrame } from './shell/app-frame.tsx'
import { Shell } from './shell/shell.tsx'
import { SHELL } from './texts/shell.ts'

export function App() {
  return (
    <AppFrame queries={queryClient}>
      <SessionGate />
    </AppFrame>
  )
}

/** Shows the page of the address to a signed-in operator, and the sign-in page at the same address to others. */
function SessionGate() {
  const [path] = useLocation()
  const { data, error, refetch } = useQuery({
    queryKey: SESSION_QUERY_KEY,
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data === undefined) {
    if (error === null) return <Skeleton />
    return <Fault title={SHELL.connectionLost} error={error} retry={() => void refetch()} />
  }
  if (data.session === null) return <SignInPage offers={data.offers} />
  // The code of a sign-in link is not left in the address and the history.
  if (isSignInLink(path)) return <Redirect to="/" replace />
  return (
    <SessionContext value={data.session}>
      <Shell />
    </SessionContext>
  )
}
