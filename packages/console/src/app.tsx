/** The operator's console: the sign-in, or the pages of the operator who is signed in. */
import { useQuery } from '@tanstack/react-query'
import { Redirect, useLocation } from 'wouter'
import { forgetAnswers, queryClient } from './api/queries.ts'
import { readSession, SESSION_QUERY_KEY, type SessionState } from './api/session.ts'
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

/** Reads the session. Another tab may have signed another operator in, who must not see the answers to the one before. */
async function readPresentSession(): Promise<SessionState> {
  const now = await readSession()
  const before = queryClient.getQueryData<SessionState>(SESSION_QUERY_KEY)?.session ?? null
  if (before !== null && before.operator !== now.session?.operator) forgetAnswers()
  return now
}

/** Shows the page of the address to a signed-in operator, and the sign-in page at the same address to others. */
function SessionGate() {
  const [path] = useLocation()
  const { data, error, refetch } = useQuery({
    queryKey: SESSION_QUERY_KEY,
    queryFn: readPresentSession,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: 'always',
  })
  if (data === undefined) {
    if (error === null) return <Skeleton />
    return <Fault title={SHELL.connectionLost} error={error} retry={() => void refetch()} />
  }
  if (data.session === null) return <SignInPage offers={data.offers} />
  // The code of a sign-in link is not left in the address and the history.
  if (isSignInLink(path)) return <Redirect to="/" replace />
  return (
    <SessionContext key={data.session.operator} value={data.session}>
      <Shell />
    </SessionContext>
  )
}
