import { useQuery } from '@tanstack/react-query'
import { answerTo, api } from '../api/client.ts'
import { useSession } from '../session/session.ts'

const NAMESPACES_FRESH_MS = 300_000

/** Loads the namespaces of the registries that the operator may see. Its `data` is undefined while they are loaded. */
export function useNamespaceQuery() {
  const { registries } = useSession()
  const query = useQuery({
    queryKey: ['registries'],
    queryFn: () => answerTo(api.GET('/admin/v1/registries')),
    staleTime: NAMESPACES_FRESH_MS,
    // The session has the namespaces of an operator who is bound to registries.
    enabled: registries === null,
  })
  return { ...query, data: registries ?? query.data?.map(({ namespace }) => namespace) }
}

const NO_NAMESPACES: readonly string[] = []

/** The namespaces for the choices of a filter; empty while they are loaded. */
export const useNamespaces = (): readonly string[] => useNamespaceQuery().data ?? NO_NAMESPACES
