/** The memory of answers, and what happens when a session has ended. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiFault } from './fault.ts'
import { SESSION_KEY, type SessionState } from './session.ts'

/** Every page loads anew when it is opened; going back shows the earlier data at once. */
const FRESH_MS = 5_000
const ATTEMPTS = 2
/** Also when the browser is offline: the server may be on the same machine, or in the same network. */
const ANYWHERE = { networkMode: 'always' } as const

/** The sign-in page takes the place of the page, whose address stays: who signs in again is back. */
const ended = (error: Error): void => {
  if (!(error instanceof ApiFault) || error.status !== 401) return
  queries.setQueryData<SessionState>(SESSION_KEY, (before) => ({ offers: [], ...before, session: null }))
  forgetAnswers()
}

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: ended }),
  mutationCache: new MutationCache({ onError: ended }),
  defaultOptions: {
    queries: {
      ...ANYWHERE,
      staleTime: FRESH_MS,
      retry: (failures, error) => error instanceof ApiFault && error.isPassing && failures < ATTEMPTS,
    },
    mutations: { ...ANYWHERE, retry: false },
  },
})

/** Removes what one operator has seen, or got from an act: the next one must not see it. */
export function forgetAnswers(): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
  queries.getMutationCache().clear()
}
