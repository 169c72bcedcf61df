/** The cache of answers, and who is signed in. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { answerTo } from '../api/client.ts'
import { ApiFault } from '../api/fault.ts'
import { type PartnerAnswer, partnerApi } from './api.ts'

export type Session = PartnerAnswer<'/partner/api/session'>

/** The key of the session in the cache of answers. */
export const SESSION_KEY = ['session'] as const
const ANSWER_FRESH_MS = 5_000
const MOST_RETRIES = 2

/** Removes the session, and the answers that one participant has seen: the next participant must not see these. */
export function forgetAnswers(): void {
  queryClient.setQueryData<Session | null>(SESSION_KEY, null)
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
  queryClient.getMutationCache().clear()
}

const handleSessionEnd = (error: Error): void => {
  if (error instanceof ApiFault && error.status === 401) forgetAnswers()
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleSessionEnd }),
  // A failed sign-in does not end an earlier session.
  mutationCache: new MutationCache({ onError: (error, _, __, { meta }) => meta?.signsIn || handleSessionEnd(error) }),
  defaultOptions: {
    queries: {
      staleTime: ANSWER_FRESH_MS,
      retry: (failures, error) => error instanceof ApiFault && error.isPassing && failures < MOST_RETRIES,
    },
    mutations: { retry: false },
  },
})

/** Loads the session; null: nobody is signed in. */
export async function readSession(): Promise<Session | null> {
  try {
    return await answerTo(partnerApi.GET('/partner/api/session'))
  } catch (error) {
    if (error instanceof ApiFault && error.status === 401) return null
    throw error
  }
}

export const signIn = (code: string): Promise<Session> => answerTo(partnerApi.POST('/partner/api/session', { body: { code } }))

export const signOut = () => answerTo(partnerApi.POST('/partner/api/session/end', { body: {} }))
