import { useQuery } from '@tanstack/react-query'
import { answered, api } from '../api/client.ts'
import { useSession } from '../session/session.ts'

const LONG_MS = 300_000

/** Namespaces of the registries that the operator may look at, for the choices of a filter. */
export function useNamespaces(): readonly string[] {
  const { registries } = useSession()
  const { data = [] } = useQuery({
    queryKey: ['registries'],
    queryFn: () => answered(api.GET('/admin/v1/registries')),
    staleTime: LONG_MS,
    // Who is bound to registries knows them from the session.
    enabled: registries === null,
  })
  return registries ?? data.map(({ namespace }) => namespace)
}
