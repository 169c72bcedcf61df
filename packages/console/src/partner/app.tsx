/** The frame of everything: the looks, the memory of answers, the addresses, the session. */
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Router } from 'wouter'
import { Boundary } from '../parts/boundary.tsx'
import { Notices } from '../parts/notices.tsx'
import { Fault, Skeleton } from '../parts/states.tsx'
import { hashHref, useHashPath, useHashSearch } from '../shell/hash-location.ts'
import { PARTNER } from '../texts/partner.ts'
import { styleNonce } from '../theme/nonce.ts'
import { THEME, VARIABLES } from '../theme/theme.ts'
import { takeCode } from './code.ts'
import { Frame } from './frame.tsx'
import { queries, readSession, SESSION_KEY } from './queries.ts'
import { SignIn } from './sign-in.tsx'

export function PartnerApp({ code }: { readonly code: string | null }) {
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
              <Entrance given={code} />
            </Notices>
          </Boundary>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** Whoever has opened a link signs in with it, also as another participant. */
function Entrance({ given }: { readonly given: string | null }) {
  const [code, setCode] = useState(given)
  useEffect(() => {
    // A link that is opened in a tab that is open already changes only what is behind the `#`.
    const look = () => setCode((before) => takeCode() ?? before)
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  const { data, error, refetch } = useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (code !== null) return <SignIn code={code} onOver={() => setCode(null)} />
  if (data === undefined) {
    if (error === null) return <Skeleton />
    return <Fault title={PARTNER.lost} error={error} retry={() => void refetch()} />
  }
  return data === null ? <SignIn code={null} onOver={() => undefined} /> : <Frame session={data} />
}
