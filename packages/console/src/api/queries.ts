/** The cache of answers, and what happens when a session has ended. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiFault } from './fault.ts'
import { SESSION_QUERY_KEY, withoutSession } from './session.ts'

/** Milliseconds for which cached data is fresh. Older data is shown at once, and loaded again. */
const FRESH_ANSWER_MS = 5_000
const MOST_RETRIES = 2
/** Queries and acts run also when the browser is offline: the server may be on the same machine or network. */
const RUN_REQUESTS_ALSO_OFFLINE = { networkMode: 'always' } as const

/** After a 401 the sign-in page is shown at the same address, so that signing in leads back to the page. */
const handleSessionEnd = (error: Error): void => {
  if (!(error instanceof ApiFault) || error.status !== 401) return
  queryClient.setQueryData(SESSION_QUERY_KEY, withoutSession)
  forgetAnswers()
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleSessionEnd }),
  mutationCache: new MutationCache({ onError: handleSessionEnd }),
  defaultOptions: {
    queries: {
      ...RUN_REQUESTS_ALSO_OFFLINE,
      staleTime: FRESH_ANSWER_MS,
      retry: (failures, error) => error instanceof ApiFault && error.isPassing && failures < MOST_RETRIES,
    },
    mutations: { ...RUN_REQUESTS_ALSO_OFFLINE, retry: false },
  },
})

/** Removes the answers that one operator has seen, and results of acts: the next operator must not see them. */
export function forgetAnswers(): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_QUERY_KEY[0] })
  queryClient.getMutationCache().clear()
}
