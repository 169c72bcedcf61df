/** A list of audit entries, the newest first. They do not name the persons whose data they are about. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { pageOfRows } from '../../parts/paging.ts'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaces } from '../../parts/use-namespaces.ts'
import { useSession } from '../../session/session.ts'
import { AUDIT_LOG } from '../../texts/audit-log.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { ENTRY_COLUMNS } from './columns.tsx'

type Entry = Answer<'/admin/v1/accounts'>[number]

const { fields: FIELDS } = AUDIT_LOG
const PAGE_ROWS = 25
const ENTRY_KINDS: readonly Entry['kind'][] = [
  ...(['answer', 'acknowledgement', 'callback', 'notification', 'unsent', 'refusal', 'operator'] as const),
]

export function EntryList() {
  const { registries } = useSession()
  const filter = useFilter(Object.keys(FIELDS))
  const namespaces = useNamespaces()
  // An operator who is bound to registries sees the entries of one of them at a time.
  const firstOwnNamespace = registries?.[0]
  const query = useQuery({
    queryKey: ['auditLog', filter.values],
    queryFn: () =>
      answerTo(
        api.GET('/admin/v1/accounts', {
          params: {
            query: { ...(firstOwnNamespace && { namespace: firstOwnNamespace }), ...filter.values, limit: PAGE_ROWS + 1 },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  })
  const { rows, next: following } = pageOfRows(query.data, PAGE_ROWS, ({ id }) => id)
  // The server searches a limited number of entries, so with a filter a page may be short although older entries fit. The next
  // page is therefore offered after every filtered page that has rows.
  const next = following ?? (filter.isSet ? rows?.at(-1)?.id : null)
  return (
    <FilteredList
      filter={filter}
      fields={[
        { name: 'participant', label: FIELDS.participant },
        {
          name: 'namespace',
          label: FIELDS.namespace,
          options: namespaces,
          ...(firstOwnNamespace !== undefined && { required: true }),
        },
        { name: 'kind', label: FIELDS.kind, options: ENTRY_KINDS },
        { name: 'from', label: FIELDS.from, time: true, more: true },
        { name: 'to', label: FIELDS.to, time: true, more: true },
      ]}
      texts={AUDIT_LOG}
      step={NEXT_STEPS.search}
      columns={ENTRY_COLUMNS}
      query={{ ...query, data: rows }}
      keyOf={({ id }) => id}
      next={next}
    />
  )
}
