/** The audit entries, the newest first. They name no person. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answered, api } from '../../api/client.ts'
import { FilterForm } from '../../parts/filter-form.tsx'
import { Panel } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { firstRows } from '../../parts/paging.ts'
import { Empty, NoMatch } from '../../parts/states.tsx'
import { DataTable } from '../../parts/table.tsx'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaces } from '../../parts/use-namespaces.ts'
import { useSession } from '../../session/session.ts'
import { AUDIT_LOG } from '../../texts/audit-log.ts'
import { STEPS } from '../../texts/steps.ts'
import { ENTRY_COLUMNS } from './columns.tsx'

type Entry = Answer<'/admin/v1/accounts'>[number]

const { fields: FIELDS } = AUDIT_LOG
const ROWS = 25
const KINDS: readonly Entry['kind'][] = [
  ...(['answer', 'acknowledgement', 'callback', 'notification', 'unsent', 'refusal', 'operator'] as const),
]

export function EntryList() {
  const { registries } = useSession()
  const filter = useFilter(Object.keys(FIELDS))
  const namespaces = useNamespaces()
  // An operator who is bound to registries looks at one of them at a time.
  const bound = registries?.[0]
  const query = useQuery({
    queryKey: ['accounts', filter.values],
    queryFn: () =>
      answered(
        api.GET('/admin/v1/accounts', {
          params: { query: { ...(bound && { namespace: bound }), ...filter.values, limit: ROWS + 1 } },
        }),
      ),
    placeholderData: keepPreviousData,
  })
  const { rows, next: following } = firstRows(query.data, ROWS, ({ id }) => id)
  // A page of a search may have few entries although older ones follow.
  const next = following ?? (filter.isSet ? rows?.at(-1)?.id : null)
  return (
    <>
      <FilterForm
        filter={filter}
        fields={[
          { name: 'participant', label: FIELDS.participant },
          {
            name: 'namespace',
            label: FIELDS.namespace,
            options: namespaces,
            ...(bound !== undefined && { required: true }),
          },
          { name: 'kind', label: FIELDS.kind, options: KINDS },
          { name: 'from', label: FIELDS.from, time: true, more: true },
          { name: 'to', label: FIELDS.to, time: true, more: true },
        ]}
      />
      <Panel>
        <DataTable
          caption={AUDIT_LOG.caption}
          columns={ENTRY_COLUMNS}
          query={{ ...query, data: rows }}
          keyOf={({ id }) => id}
          empty={
            filter.isSet ? (
              <NoMatch />
            ) : (
              <Empty next={STEPS.search} title={AUDIT_LOG.empty}>
                {AUDIT_LOG.emptyNote}
              </Empty>
            )
          }
        />
      </Panel>
      <Pager filter={filter} next={next} />
    </>
  )
}
