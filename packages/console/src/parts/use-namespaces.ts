import { useQuery } from '@tanstack/react-query'
import { answerTo, api } from '../api/client.ts'
import { useSession } from '../session/session.ts'
import type { FilterField } from './filter-form.tsx'

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

/**
 * The filter field for a registry, whose choices are empty while they are loaded. Operators who are bound choose one of theirs.
 */
export function useNamespaceField(label: string): FilterField {
  const { registries } = useSession()
  const options = useNamespaceQuery().data ?? NO_NAMESPACES
  return { name: 'namespace', label, options, ...(registries !== null && { required: true }) }
}

/**
 * The member `namespace` of calls that may concern all registries; none for an operator of all. The server answers an operator
 * who is bound to registries about one of them at a time: this is the first, until another one is chosen.
 */
export function useOperatorNamespace(): { readonly namespace?: string } {
  const first = useSession().registries?.[0]
  return first === undefined ? {} : { namespace: first }
}
