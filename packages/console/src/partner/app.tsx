/** The partner page: the sign-in, or the view of the signed-in participant. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Fault, Skeleton } from '../parts/states.tsx'
import { AppFrame } from '../shell/app-frame.tsx'
import { PARTNER } from '../texts/partner.ts'
import { takeSignInCode } from './code.ts'
import { PartnerFrame } from './frame.tsx'
import { queryClient, readSession, SESSION_KEY } from './queries.ts'
import { SignIn } from './sign-in.tsx'

export function PartnerApp({ code }: { readonly code: string | null }) {
  return (
    <AppFrame queries={queryClient}>
      <PartnerGate given={code} />
    </AppFrame>
  )
}

/** Shows the views to a signed-in participant; the sign-in page to others, and to whoever has opened a link. */
function PartnerGate({ given }: { readonly given: string | null }) {
  const [code, setCode] = useState(given)
  useEffect(() => {
    // If a sign-in link is opened in this tab, the browser does not load the page again: only the part after the `#` changes.
    const look = () => setCode((before) => takeSignInCode() ?? before)
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  const { data, error, refetch } = useQuery({ queryKey: SESSION_KEY, queryFn: readSession, staleTime: Number.POSITIVE_INFINITY })
  if (code !== null) return <SignIn code={code} onOver={() => setCode(null)} />
  if (data === undefined) {
    if (error === null) return <Skeleton />
    return <Fault title={PARTNER.lost} error={error} retry={() => void refetch()} />
  }
  return data === null ? <SignIn code={null} onOver={() => undefined} /> : <PartnerFrame session={data} />
}
