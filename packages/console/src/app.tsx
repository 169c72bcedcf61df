/** The frame of everything: the looks, the memory of answers, the addresses, the session. */
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { Redirect, Router, useLocation } from 'wouter'
import { queries } from './api/queries.ts'
import { readSession, SESSION_KEY } from './api/session.ts'
import { Boundary } from './parts/boundary.tsx'
import { Notices } from './parts/notices.tsx'
import { Fault, Skeleton } from './parts/states.tsx'
import { SessionContext } from './session/session.ts'
import { isLink, SignInPage } from './session/sign-in.tsx'
import { hashHref, useHashPath, useHashSearch } from './shell/hash-location.ts'
import { Shell } from './shell/shell.tsx'
import { SHELL } from './texts/shell.ts'
import { styleNonce } from './theme/nonce.ts'
import { THEME, VARIABLES } from './theme/theme.ts'

export function App() {
  return (
    <MantineProvider
      theme={THEME}
      cssVariablesResolver={VARIABLES}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queries}>
        <Router hook={useHashPath} searchHook={useHashSearch} hrefs={hashHref}>
          <Boundary>
            <Notices>
              <Entrance />
            </Notices>
          </Boundary>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** Whoever is signed in sees the page of the address; everybody else the sign-in page, at the same address. */
function Entrance() {
  const [path] = useLocation()
  const { data, error, refetch } = useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data === undefined) {
    if (error === null) return <Skeleton />
    return <Fault title={SHELL.connectionLost} error={error} retry={() => void refetch()} />
  }
  if (data.session === null) return <SignInPage offers={data.offers} />
  // Its code is not left in the address and in the history.
  if (isLink(path)) return <Redirect to="/" replace />
  return (
    <SessionContext value={data.session}>
      <Shell />
    </SessionContext>
  )
}
