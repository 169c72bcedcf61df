/** A list of audit entries, the newest first. They do not name the persons whose data they are about. */
import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type Answer, answerTo, api } from '../../api/client.ts'
import { ApiFault } from '../../api/fault.ts'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { pageOfRows } from '../../parts/paging.ts'
import { useFilter } from '../../parts/use-filter.ts'
import { useNamespaceField, useOperatorNamespace } from '../../parts/use-namespaces.ts'
import { AUDIT_LOG } from '../../texts/audit-log.ts'
import { NEXT_STEPS } from '../../texts/steps.ts'
import { ENTRY_COLUMNS } from './columns.tsx'

type Entry = Answer<'/admin/v1/accounts'>[number]

const { fields: FIELDS } = AUDIT_LOG
const PAGE_ROWS = 25
const ENTRY_KINDS: readonly Entry['kind'][] = [
  ...(['answer', 'acknowledgement', 'callback', 'notification', 'unsent', 'refusal', 'operator'] as const),
]

/** The time from which a search goes on to older entries, as the server's error 409 names it; undefined when it names none. */
const findNextSearchTime = (error: Error | null): string | undefined =>
  error instanceof ApiFault && error.status === 409 ? /\bto=(\S+)$/.exec(error.message)?.[1] : undefined

export function EntryList() {
  const filter = useFilter(Object.keys(FIELDS))
  const namespace = useNamespaceField(FIELDS.namespace)
  const asked = { ...useOperatorNamespace(), ...filter.values }
  const query = useQuery({
    queryKey: ['auditLog', asked],
    queryFn: () => answerTo(api.GET('/admin/v1/accounts', { params: { query: { ...asked, limit: PAGE_ROWS + 1 } } })),
    placeholderData: keepPreviousData,
  })
  const { rows, next: following } = pageOfRows(query.data, PAGE_ROWS, ({ id }) => id)
  // The server searches a limited number of entries, so with a filter a page may be short although older entries fit. The next
  // page is therefore offered after every filtered page that has rows.
  const next = following ?? (filter.isSet ? rows?.at(-1)?.id : null)
  const goOn = findNextSearchTime(query.error)
  return (
    <FilteredList
      filter={filter}
      fields={[
        { name: 'participant', label: FIELDS.participant },
        namespace,
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
    >
      {goOn !== undefined && (
        <div>
          <Button variant="default" onClick={() => filter.set({ to: goOn })}>
            {AUDIT_LOG.goOn}
          </Button>
        </div>
      )}
    </FilteredList>
  )
}
